(* What the proofs need of calculus: growth from the sign of a derivative, and first exits.

   Nothing here knows of the network. *)

Require Import Reals Lra Classical.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* [f] has the derivative [speed t] at every time [t >= 0]. *)
Definition moves (f speed : R -> R) : Prop :=
  forall t, 0 <= t -> is_derive f t (speed t).

Lemma mean_value f speed a b :
  moves f speed -> 0 <= a < b ->
  exists c, f b - f a = speed c * (b - a) /\ a < c < b.
Proof.
  intros Hf Hab.
  apply MVT_cor2; [lra|].
  intros c Hc. apply is_derive_Reals, Hf. lra.
Qed.

Lemma grows_where_the_speed_is_not_negative f speed a b :
  moves f speed -> 0 <= a <= b -> (forall t, a < t < b -> 0 <= speed t) -> f a <= f b.
Proof.
  intros Hf Hab Hs.
  destruct (Req_dec a b) as [->|Hne]; [lra|].
  destruct (mean_value f speed a b Hf) as [c [E Hc]]; [lra|].
  specialize (Hs c Hc).
  assert (0 <= speed c * (b - a)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma grows_strictly_where_the_speed_is_positive f speed a b :
  moves f speed -> 0 <= a < b -> (forall t, a < t < b -> 0 < speed t) -> f a < f b.
Proof.
  intros Hf Hab Hs.
  destruct (mean_value f speed a b Hf) as [c [E Hc]]; [lra|].
  specialize (Hs c Hc).
  assert (0 < speed c * (b - a)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma stays_where_the_speed_is_zero f speed t :
  moves f speed -> 0 <= t -> (forall u, 0 <= u -> speed u = 0) -> f t = f 0.
Proof.
  intros Hf Ht Hs.
  destruct (Req_dec t 0) as [->|Hne]; [reflexivity|].
  destruct (mean_value f speed 0 t Hf) as [c [E Hc]]; [lra|].
  rewrite (Hs c) in E by lra. lra.
Qed.

Lemma moving_is_continuous f speed t :
  moves f speed -> 0 <= t ->
  forall eps, 0 < eps -> exists d, 0 < d /\ forall u, Rabs (u - t) < d -> Rabs (f u - f t) < eps.
Proof.
  intros Hf Ht eps Heps.
  assert (C : continuity_pt f t).
  { apply derivable_continuous_pt. exists (speed t). apply is_derive_Reals, Hf, Ht. }
  destruct (C eps Heps) as [d [Hd H]].
  exists d; split; [exact Hd|].
  intros u Hu.
  destruct (Req_dec u t) as [->|Hne].
  - replace (f t - f t) with 0 by ring. rewrite Rabs_R0. exact Heps.
  - apply H. split; [|exact Hu]. unfold D_x, no_cond. auto.
Qed.

(* A level that is passed is reached for a first time. *)
Lemma first_time_at_a_level f speed v b :
  moves f speed -> 0 <= b -> f 0 < v -> v <= f b ->
  exists c, 0 < c <= b /\ f c = v /\ forall u, 0 <= u < c -> f u < v.
Proof.
  intros Hf Hb H0 Hv.
  set (E := fun x => 0 <= x <= b /\ forall u, 0 <= u <= x -> f u < v).
  destruct (completeness E) as [c [Hub Hlub]].
  - exists b. intros x [Hx _]. lra.
  - exists 0. split; [lra|]. intros u Hu. replace u with 0 by lra. exact H0.
  - assert (Hc0 : 0 <= c).
    { apply Hub. split; [lra|]. intros u Hu. replace u with 0 by lra. exact H0. }
    assert (Hcb : c <= b) by (apply Hlub; intros x [Hx _]; lra).
    assert (Hbelow : forall u, 0 <= u < c -> f u < v).
    { intros u Hu. destruct (Rlt_le_dec (f u) v) as [|Hge]; [assumption|].
      exfalso. assert (c <= u); [|lra].
      apply Hlub. intros x [Hx Hall].
      destruct (Rle_lt_dec x u) as [|Hlt]; [assumption|].
      specialize (Hall u). lra. }
    assert (Hfc : f c = v).
    { destruct (Rtotal_order (f c) v) as [Hlt|[Heq|Hgt]]; [exfalso|exact Heq|exfalso].
      - (* below the level it would still be below a little later *)
        destruct (moving_is_continuous f speed c Hf Hc0 (v - f c)) as [d [Hd Hnear]]; [lra|].
        destruct (Rlt_le_dec c b) as [Hlb|Hge].
        + assert (Hin : E (Rmin b (c + d / 2))).
          { pose proof (Rmin_l b (c + d / 2)). pose proof (Rmin_r b (c + d / 2)).
            assert (0 <= Rmin b (c + d / 2)) by (apply Rmin_glb; lra).
            split; [lra|]. intros u Hu.
            destruct (Rlt_le_dec u c); [apply Hbelow; lra|].
            assert (Hu2 : Rabs (u - c) < d) by (rewrite Rabs_right; lra).
            apply Hnear, Rabs_def2 in Hu2. lra. }
          apply Hub in Hin.
          assert (c < Rmin b (c + d / 2)) by (apply Rmin_glb_lt; lra). lra.
        + replace b with c in Hv by lra. lra.
      - (* above the level it would have been above a little earlier *)
        destruct (moving_is_continuous f speed c Hf Hc0 (f c - v)) as [d [Hd Hnear]]; [lra|].
        assert (Hc : 0 < c).
        { destruct (Req_dec c 0) as [E0|]; [rewrite E0 in Hgt; lra|lra]. }
        set (u := Rmax 0 (c - d / 2)).
        assert (Hu : 0 <= u < c) by (unfold u; split; [apply Rmax_l|apply Rmax_lub_lt; lra]).
        assert (Hu3 : c - d / 2 <= u) by apply Rmax_r.
        assert (Hu2 : Rabs (u - c) < d) by (rewrite Rabs_left; lra).
        apply Hnear, Rabs_def2 in Hu2. specialize (Hbelow u Hu). lra. }
    exists c. repeat split; try lra; try assumption.
    destruct (Req_dec c 0) as [E0|]; [rewrite E0 in Hfc; lra|lra].
Qed.

(* A function that arrives at a level from below arrives there with a speed that is not negative. *)
Lemma arrival_from_below f speed v c :
  moves f speed -> 0 < c -> f c = v -> (forall u, 0 <= u < c -> f u < v) -> 0 <= speed c.
Proof.
  intros Hf Hc Hfc Hbelow.
  destruct (Rle_lt_dec 0 (speed c)) as [|Hneg]; [assumption|exfalso].
  assert (D : derivable_pt_lim f c (speed c)) by (apply is_derive_Reals, Hf; lra).
  destruct (D (- speed c)) as [d Hd]; [lra|].
  pose proof (cond_pos d) as Hd0.
  set (h := - Rmin (d / 2) (c / 2)).
  assert (Hh : 0 < - h) by (unfold h; rewrite Ropp_involutive; apply Rmin_glb_lt; lra).
  assert (Hhd : - h <= d / 2) by (unfold h; rewrite Ropp_involutive; apply Rmin_l).
  assert (Hhc : - h <= c / 2) by (unfold h; rewrite Ropp_involutive; apply Rmin_r).
  specialize (Hd h). destruct (Rabs_def2 _ _ (Hd ltac:(lra) ltac:(rewrite Rabs_left; lra))) as [H1 _].
  assert (Hq : 0 < (f (c + h) - f c) / h).
  { specialize (Hbelow (c + h)).
    replace ((f (c + h) - f c) / h) with ((f c - f (c + h)) / - h) by (field; lra).
    apply Rdiv_lt_0_compat; lra. }
  lra.
Qed.

(* A wall: where [f] is [v] it moves down, so it never reaches [v]. *)
Lemma never_crosses_a_wall f speed v t :
  moves f speed -> f 0 < v -> 0 <= t ->
  (forall c, 0 < c <= t -> f c = v -> (forall u, 0 <= u < c -> f u < v) -> speed c < 0) -> f t < v.
Proof.
  intros Hf H0 Ht Hwall.
  destruct (Rlt_le_dec (f t) v) as [|Hge]; [assumption|exfalso].
  destruct (first_time_at_a_level f speed v t Hf Ht H0 Hge) as [c [Hc [Hfc Hbelow]]].
  pose proof (arrival_from_below f speed v c Hf (proj1 Hc) Hfc Hbelow).
  specialize (Hwall c Hc Hfc Hbelow). lra.
Qed.

Lemma a_level_is_reached_or_not f speed v b :
  moves f speed -> 0 <= b -> f 0 < v ->
  (exists c, 0 < c <= b /\ f c = v /\ forall u, 0 <= u < c -> f u < v) \/
  forall u, 0 <= u <= b -> f u < v.
Proof.
  intros Hf Hb H0.
  destruct (classic (exists u, 0 <= u <= b /\ v <= f u)) as [[u [Hu Hv]]|No].
  - left. destruct (first_time_at_a_level f speed v u Hf (proj1 Hu) H0 Hv) as [c [Hc E]].
    exists c. split; [lra|exact E].
  - right. intros u Hu. apply Rnot_le_lt. intros Hv. apply No. exists u. split; assumption.
Qed.

(* Two walls: each of them moves away from its wall as long as the other is behind its own. *)
Lemma never_crosses_two_walls f speed_f v h speed_h w t :
  moves f speed_f -> moves h speed_h -> f 0 < v -> h 0 < w -> 0 <= t ->
  (forall c, 0 < c <= t -> (forall u, 0 <= u < c -> f u < v /\ h u < w) ->
     f c = v -> h c <= w -> speed_f c < 0) ->
  (forall c, 0 < c <= t -> (forall u, 0 <= u < c -> f u < v /\ h u < w) ->
     h c = w -> f c < v -> speed_h c < 0) ->
  f t < v /\ h t < w.
Proof.
  intros Hf Hh Hf0 Hh0 Ht Wf Wh.
  assert (not_f : forall c, 0 < c <= t -> (forall u, 0 <= u < c -> f u < v /\ h u < w) ->
    f c = v -> h c <= w -> False).
  { intros c Hc Hin E Hle. specialize (Wf c Hc Hin E Hle).
    pose proof (arrival_from_below f speed_f v c Hf (proj1 Hc) E (fun u Hu => proj1 (Hin u Hu))). lra. }
  assert (not_h : forall c, 0 < c <= t -> (forall u, 0 <= u < c -> f u < v /\ h u < w) ->
    h c = w -> f c < v -> False).
  { intros c Hc Hin E Hlt. specialize (Wh c Hc Hin E Hlt).
    pose proof (arrival_from_below h speed_h w c Hh (proj1 Hc) E (fun u Hu => proj2 (Hin u Hu))). lra. }
  destruct (a_level_is_reached_or_not f speed_f v t Hf Ht Hf0) as [[c [Hc [Ec Bc]]]|Af];
    [exfalso|].
  - (* f arrives at c; either h has arrived by then, or not *)
    destruct (a_level_is_reached_or_not h speed_h w c Hh ltac:(lra) Hh0) as [[d [Hd [Ed Bd]]]|Ah].
    + destruct (Req_dec d c) as [->|Hne].
      * apply (not_f c); try lra. intros u Hu. split; [apply Bc|apply Bd]; lra.
      * apply (not_h d); try lra; [|apply Bc; lra]. intros u Hu. split; [apply Bc|apply Bd]; lra.
    + apply (not_f c); try lra; [|left; apply Ah; lra]. intros u Hu. split; [apply Bc|apply Ah]; lra.
  - split; [apply Af; lra|].
    destruct (a_level_is_reached_or_not h speed_h w t Hh Ht Hh0) as [[d [Hd [Ed Bd]]]|Ah];
      [exfalso|apply Ah; lra].
    apply (not_h d); try lra; [|apply Af; lra]. intros u Hu. split; [apply Af|apply Bd]; lra.
Qed.

(* The same motion on a clock that starts at s *)
Lemma moves_later f speed s : moves f speed -> 0 <= s ->
  moves (fun u => f (s + u)) (fun u => speed (s + u)).
Proof.
  intros Hf Hs t Ht. pose proof (Hf (s + t) ltac:(lra)) as D.
  rewrite <- (Rmult_1_l (speed (s + t))). apply (is_derive_comp f (fun u => s + u)); [exact D|].
  auto_derive; [trivial|ring].
Qed.

(* What is negative at time 0 and has a derivative there is negative for a while. *)
Lemma negative_for_a_while (F : R -> R) : ex_derive F 0 -> F 0 < 0 ->
  exists d, 0 < d /\ forall u, 0 <= u < d -> F u < 0.
Proof.
  intros D H0. apply (@ex_derive_continuous R_AbsRing R_NormedModule) in D.
  destruct (D (fun y => y < 0) (open_lt 0 _ H0)) as [d Hd].
  exists d. split; [apply cond_pos|]. intros u Hu. apply Hd.
  unfold ball; simpl; unfold AbsRing_ball, abs, minus, plus, opp; simpl.
  rewrite Rabs_right; lra.
Qed.
