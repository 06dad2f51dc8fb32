(* Three parameters never form a head under the causal mask with a loss at every position.

   The loss is the mean over the prefixes of 1 to N pairs, each asked for its last pair. For every
   integer N >= 1 the flow from zero has beta < 0 at all times t > 0. *)

Require Import Arith Lia Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Calculus Sums Causal Model Flow Speeds CausalFlow Pushes ICL.
Open Scope R_scope.

Lemma total_positive N f : (1 <= N)%nat -> (forall k, (k < N)%nat -> 0 < f k) -> 0 < total N f.
Proof.
  intros HN H. induction N as [|N IH]; [lia|]. cbn [total].
  pose proof (H N ltac:(lia)) as HfN. destruct N as [|N]; [cbn [total]; lra|].
  assert (0 < total (S N) f); [|lra]. apply IH; [lia|]. intros k Hk. apply H. lia.
Qed.

Lemma total_grows N f g : (1 <= N)%nat -> (forall k, (k < N)%nat -> f k < g k) -> total N f < total N g.
Proof.
  intros HN H. assert (P : 0 < total N (fun k => g k + -1 * f k)).
  { apply total_positive; [exact HN|]. intros k Hk. specialize (H k Hk). lra. }
  rewrite total_plus, total_scaled in P. lra.
Qed.

Lemma mean_has_the_sign_of_the_total N f : (1 <= N)%nat ->
  total N (fun k => f (INR (S k))) < 0 -> mean_over_prefixes N f < 0.
Proof.
  intros HN H. unfold mean_over_prefixes. apply Rlt_div_l; [apply lt_0_INR; lia|]. lra.
Qed.

Lemma at_least_one_pair k : 1 <= INR (S k).
Proof. rewrite S_INR. pose proof (pos_INR k). lra. Qed.

(* Step 2, summed: from three prefixes on gamma falls above 257/220 = 1 + 37/220. *)
Lemma total_push_on_gamma N a b c : (3 <= N)%nat -> b <= 0 -> 257 / 220 < c ->
  total N (fun k => push_gamma (INR (S k)) a b c) < 0.
Proof.
  intros HN Hb Hc.
  assert (each : forall k, push_gamma (INR (S k)) a b c
    <= 2 * (1 / (8 * INR (S k) * (2 * INR (S k) - 1)) - (c - 1) / (2 * INR (S k))))
    by (intros k; apply push_on_gamma_from_above; [apply each_prefix_is_one|exact Hb|lra]).
  assert (three : total 3 (fun k => push_gamma (INR (S k)) a b c) < 0).
  { cbn [total]. pose proof (each 0%nat) as E1. pose proof (each 1%nat) as E2. pose proof (each 2%nat) as E3.
    replace (INR 1) with 1 in * by (simpl; ring). replace (INR 2) with 2 in * by (simpl; ring).
    replace (INR 3) with 3 in * by (simpl; ring). lra. }
  assert (H : forall d, total (3 + d) (fun k => push_gamma (INR (S k)) a b c) < 0).
  { induction d as [|d IH]; [exact three|]. rewrite Nat.add_succ_r. cbn [total].
    specialize (each (3 + d)%nat). pose proof (at_least_one_pair d).
    replace (INR (S (3 + d))) with (INR (S d) + 3) in *.
    2: { replace 3 with (INR 3) by (simpl; ring). rewrite <- plus_INR. f_equal. lia. }
    set (n := INR (S d) + 3) in *. assert (Hn : 4 <= n) by (unfold n; lra). clearbody n.
    assert (1 / (8 * n * (2 * n - 1)) - (c - 1) / (2 * n) <= 0); [|lra].
    replace (1 / (8 * n * (2 * n - 1)) - (c - 1) / (2 * n))
      with ((1 - 4 * (2 * n - 1) * (c - 1)) / (8 * n * (2 * n - 1))) by (field; lra).
    apply Rle_div_l; [nra|]. nra. }
  specialize (H (N - 3)%nat). replace (3 + (N - 3))%nat with N in H by lia. exact H.
Qed.

(* Step 3, summed *)
Lemma total_lift N b c : (3 <= N)%nat -> b <= 0 -> 0 <= c <= 257 / 220 ->
  0 < total N (fun k => lift (INR (S k)) 0 b c).
Proof.
  intros HN Hb Hc.
  assert (H : forall d, 0 < total (3 + d) (fun k => lift (INR (S k)) 0 b c)).
  { induction d as [|d IH].
    - pose proof (three_lifts_are_positive b c Hb Hc). cbn [total Nat.add].
      replace (INR 1) with 1 by (simpl; ring). replace (INR 2) with 2 by (simpl; ring).
      replace (INR 3) with 3 by (simpl; ring). lra.
    - rewrite Nat.add_succ_r. cbn [total].
      assert (0 < lift (INR (S (3 + d))) 0 b c); [|lra].
      apply lift_from_two_pairs_on; [|exact Hb|lra].
      change 2 with (INR 2). apply le_INR. lia. }
  specialize (H (N - 3)%nat). replace (3 + (N - 3))%nat with N in H by lia. exact H.
Qed.

(* Step 4, the other face: up to two prefixes push beta down even at alpha = log 2. *)
Lemma total_push_on_beta_of_two N a c : (1 <= N <= 2)%nat -> 0 < c -> a <= ln 2 ->
  total N (fun k => push_beta (INR (S k)) a 0 c) < 0.
Proof.
  intros HN Hc Ha.
  assert (He : exp a <= 2) by (rewrite <- (exp_ln 2) by lra; apply exponential_grows, Ha).
  pose proof (push_on_beta_from_above 1 a c 2 ltac:(lra) Hc He ltac:(lra)) as E1.
  pose proof (push_on_beta_from_above 2 a c 2 ltac:(lra) Hc He ltac:(lra)) as E2. cbv zeta in E1, E2.
  assert (cases : N = 1%nat \/ N = 2%nat) by lia.
  destruct cases as [->| ->]; cbn [total]; replace (INR 1) with 1 by (simpl; ring);
    replace (INR 2) with 2 by (simpl; ring); lra.
Qed.

(* Step 1, summed *)
Lemma total_push_on_beta N a c : (1 <= N)%nat -> 0 < c -> a <= 0 ->
  total N (fun k => push_beta (INR (S k)) a 0 c) < 0.
Proof.
  intros HN Hc Ha.
  apply Rlt_trans with (total N (fun k => c * largest_push (INR (S k)))).
  - apply total_grows; [exact HN|]. intros k _.
    apply push_on_beta_below_the_largest; [apply at_least_one_pair|exact Hc|exact Ha].
  - rewrite total_scaled. pose proof (sum_of_largest_pushes_is_negative N HN). nra.
Qed.

(* The push on beta, with gamma taken out *)
Definition slope_of_beta (n a b c : R) : R :=
  let g := causal_retrieval n a in let p := causal_target n a b in
  let i := raised_items n a b in let q := to_last_item n a b + to_itself n a b in
  2 * (p * (g - (p * g + i))) - 2 * c * (p ^ 2 * g + q * i - (p * g + i) * concentration n a b).

Lemma push_beta_by_slope n a b c : push_beta n a b c = c * slope_of_beta n a b c.
Proof. unfold push_beta, slope_of_beta. cbv zeta. ring. Qed.

(* Before anything is learned it is the largest push of step 1. *)
Lemma slope_at_zero n : 1 <= n -> slope_of_beta n 0 0 0 = largest_push n.
Proof.
  intros Hn. unfold slope_of_beta, causal_target, concentration, raised_items, to_last_item, to_itself,
    normalizer, to_answer, to_item, causal_retrieval, largest_push.
  rewrite exp_0. replace (0 * (1 / (1 + 2 * n - 1))) with 0 by ring.
  replace (0 / (2 * n - 1)) with 0 by (field; lra).
  replace (2 * 0 / (2 * n + 1)) with 0 by (field; lra).
  rewrite exp_0. field. lra.
Qed.

Section Never.

Variables (N : nat) (alpha beta gamma : R -> R).
Hypothesis at_least_one : (1 <= N)%nat.
Hypothesis flow : descends (mean_prefix_loss N) alpha beta gamma.

Let moves_alpha := causal_speed_of_alpha N alpha beta gamma flow.
Let moves_beta := causal_speed_of_beta N alpha beta gamma flow.
Let moves_gamma := causal_speed_of_gamma N alpha beta gamma flow.

Lemma push_on_gamma_exceeds n a b c : is_a_prefix n -> 0 <= c -> - (2 * c) < push_gamma n a b c.
Proof.
  intros Hn Hc. assert (H1 : 1 <= n) by (destruct Hn; lra).
  destruct (attention_of_a_prefix n a b H1) as (Hp & Hr & _).
  pose proof (concentration_is_at_most_1 n a b Hn). unfold push_gamma. nra.
Qed.

Lemma causal_gamma_is_not_negative t : 0 <= t -> 0 <= gamma t.
Proof.
  intros Ht. apply Rnot_lt_le. intros Hneg.
  assert (H : - gamma t < - gamma t); [|lra].
  apply (never_crosses_a_wall (fun u => - gamma u)
    (fun u => - mean_over_prefixes N (fun n => push_gamma n (alpha u) (beta u) (gamma u)))); try lra.
  - intros u Hu. apply (is_derive_opp gamma), moves_gamma, Hu.
  - pose proof flow as (_ & _ & G0 & _). lra.
  - intros c Hc Hgc _. apply Ropp_lt_gt_0_contravar. unfold mean_over_prefixes.
    apply Rdiv_lt_0_compat; [|apply lt_0_INR; lia]. apply total_positive; [exact at_least_one|].
    intros k _. destruct (attention_of_a_prefix (INR (S k)) (alpha c) (beta c) (at_least_one_pair k))
      as (Hp & Hr & _). unfold push_gamma.
    set (r := concentration (INR (S k)) (alpha c) (beta c)) in *. assert (0 <= r) by nra. nra.
Qed.

(* gamma is positive from the start on. *)
Lemma causal_gamma_is_positive t : 0 < t -> 0 < gamma t.
Proof.
  intros Ht.
  assert (H : exp (2 * 0) * gamma 0 < exp (2 * t) * gamma t).
  { apply (grows_strictly_where_the_speed_is_positive (fun u => exp (2 * u) * gamma u)
      (fun u => exp (2 * u) * (2 * gamma u
        + mean_over_prefixes N (fun n => push_gamma n (alpha u) (beta u) (gamma u))))); [|lra|].
    - intros u Hu. pose proof (moves_gamma u Hu) as D. auto_derive.
      + repeat split; eexists; eassumption.
      + rewrite (derivative_is _ _ _ D). ring.
    - intros u Hu. apply Rmult_lt_0_compat; [apply exp_pos|].
      pose proof (causal_gamma_is_not_negative u ltac:(lra)) as Hc.
      assert (HN : 0 < INR N) by (apply lt_0_INR; lia).
      assert (P : total N (fun _ => - (2 * gamma u))
        < total N (fun k => push_gamma (INR (S k)) (alpha u) (beta u) (gamma u))).
      { apply total_grows; [exact at_least_one|]. intros k _.
        apply push_on_gamma_exceeds; [apply each_prefix_is_one|exact Hc]. }
      rewrite (total_constant N (- (2 * gamma u))) in P by reflexivity.
      unfold mean_over_prefixes.
      set (S := total N (fun k => push_gamma (INR (S k)) (alpha u) (beta u) (gamma u))) in *.
      assert (- (2 * gamma u) < S / INR N) by (apply Rlt_div_r; lra). lra. }
  pose proof flow as (_ & _ & G0 & _). rewrite G0 in H. pose proof (exp_pos (2 * t)). nra.
Qed.

(* Step 2. *)
Lemma causal_gamma_is_bounded T : (3 <= N)%nat -> 0 <= T -> (forall u, 0 < u <= T -> beta u <= 0) ->
  gamma T <= 257 / 220.
Proof.
  intros HN HT Hb. apply Rnot_lt_le. intros Hlt.
  set (v := (gamma T + 257 / 220) / 2). assert (Hv : 257 / 220 < v < gamma T) by (unfold v; lra).
  assert (gamma T < v); [|lra].
  apply (never_crosses_a_wall gamma _ v T moves_gamma); [|exact HT|].
  - pose proof flow as (_ & _ & G0 & _). lra.
  - intros c Hc E _. apply mean_has_the_sign_of_the_total; [exact at_least_one|].
    apply total_push_on_gamma; [exact HN|apply Hb; lra|lra].
Qed.

(* The start: sums that are negative at time 0 stay so for a while. *)
Lemma slopes_have_derivatives n : 1 <= n ->
  ex_derive (fun t => slope_of_beta n (alpha t) (beta t) (gamma t)) 0 /\
  ex_derive (fun t => - lift n (alpha t) (beta t) (gamma t)) 0.
Proof.
  intros Hn.
  pose proof (moves_alpha 0 ltac:(lra)) as Da. pose proof (moves_beta 0 ltac:(lra)) as Db.
  pose proof (moves_gamma 0 ltac:(lra)) as Dc.
  destruct (weights_are_positive n (alpha 0) (beta 0) Hn) as (_ & _ & HZ).
  pose proof (exp_pos (alpha 0)).
  assert (Dg : ex_derive (fun t => causal_retrieval n (alpha t)) 0).
  { unfold causal_retrieval. auto_derive. repeat split; try (eexists; eassumption). lra. }
  assert (Dw : ex_derive (fun t => to_answer n (alpha t) (beta t)) 0).
  { unfold to_answer. set (g := fun t => causal_retrieval n (alpha t)) in *.
    change (ex_derive (fun t => exp (beta t * g t)) 0). change (ex_derive g 0) in Dg. clearbody g.
    auto_derive. repeat split; try (eexists; eassumption). exact Dg. }
  assert (Du : ex_derive (fun t => exp (beta t / (2 * n - 1))) 0)
    by (auto_derive; repeat split; eexists; eassumption).
  assert (Dv : ex_derive (fun t => exp (2 * beta t / (2 * n + 1))) 0)
    by (auto_derive; repeat split; eexists; eassumption).
  unfold slope_of_beta, lift, causal_target, concentration, raised_items, to_last_item, to_itself.
  unfold normalizer, to_item in *.
  set (g := fun t => causal_retrieval n (alpha t)) in *.
  set (w := fun t => to_answer n (alpha t) (beta t)) in *.
  set (u := fun t => exp (beta t / (2 * n - 1))) in *.
  set (v := fun t => exp (2 * beta t / (2 * n + 1))) in *.
  change (0 < w 0 + (u 0 + v 0) + 2 * n - 2) in HZ.
  change (ex_derive g 0) in Dg. change (ex_derive w 0) in Dw.
  change (ex_derive u 0) in Du. change (ex_derive v 0) in Dv.
  assert (Dc' : ex_derive gamma 0) by (eexists; exact Dc).
  assert (positive : (w 0 + (u 0 + v 0) + 2 * n - 2) * ((w 0 + (u 0 + v 0) + 2 * n - 2) * 1) <> 0)
    by (apply Rgt_not_eq; nra).
  change (ex_derive (fun t =>
     2 * (w t / (w t + (u t + v t) + 2 * n - 2)
       * (g t - (w t / (w t + (u t + v t) + 2 * n - 2) * g t
           + (u t / (w t + (u t + v t) + 2 * n - 2) / (2 * n - 1)
              + 2 * (v t / (w t + (u t + v t) + 2 * n - 2)) / (2 * n + 1)))))
     - 2 * gamma t * ((w t / (w t + (u t + v t) + 2 * n - 2)) ^ 2 * g t
         + (u t / (w t + (u t + v t) + 2 * n - 2) + v t / (w t + (u t + v t) + 2 * n - 2))
           * (u t / (w t + (u t + v t) + 2 * n - 2) / (2 * n - 1)
              + 2 * (v t / (w t + (u t + v t) + 2 * n - 2)) / (2 * n + 1))
         - (w t / (w t + (u t + v t) + 2 * n - 2) * g t
            + (u t / (w t + (u t + v t) + 2 * n - 2) / (2 * n - 1)
               + 2 * (v t / (w t + (u t + v t) + 2 * n - 2)) / (2 * n + 1)))
           * ((w t ^ 2 + (u t + v t) ^ 2 + 2 * n - 2) / (w t + (u t + v t) + 2 * n - 2) ^ 2))) 0 /\
    ex_derive (fun t => - (g t * (1 - g t) * (w t / (w t + (u t + v t) + 2 * n - 2))
      * (1 - w t / (w t + (u t + v t) + 2 * n - 2)
         - gamma t * (w t / (w t + (u t + v t) + 2 * n - 2)
           - (w t ^ 2 + (u t + v t) ^ 2 + 2 * n - 2) / (w t + (u t + v t) + 2 * n - 2) ^ 2)))) 0).
  clearbody g w u v.
  split; auto_derive; repeat split; first [assumption | lra].
Qed.

Lemma total_has_a_derivative (f : nat -> R -> R) x :
  (forall k, ex_derive (f k) x) -> ex_derive (fun t => total N (fun k => f k t)) x.
Proof.
  intros H. exists (total N (fun k => Derive (f k) x)).
  apply total_by_parameter. intros k. apply Derive_correct, H.
Qed.

(* So at first beta falls, and then alpha does. *)
Lemma negative_at_first : exists d, 0 < d /\ forall t, 0 < t < d -> alpha t < 0 /\ beta t < 0.
Proof.
  pose proof flow as (A0 & B0 & G0 & _).
  destruct (negative_for_a_while (fun t => total N (fun k => slope_of_beta (INR (S k)) (alpha t) (beta t) (gamma t))))
    as [d [Hd Hslope]].
  { apply (total_has_a_derivative (fun k t => slope_of_beta (INR (S k)) (alpha t) (beta t) (gamma t))).
    intros k. exact (proj1 (slopes_have_derivatives _ (at_least_one_pair k))). }
  { rewrite A0, B0, G0.
    rewrite (total_equal N _ (fun k => largest_push (INR (S k))));
      [apply sum_of_largest_pushes_is_negative, at_least_one|].
    intros k _. apply slope_at_zero, at_least_one_pair. }
  destruct (negative_for_a_while (fun t => total N (fun k => - lift (INR (S k)) (alpha t) (beta t) (gamma t))))
    as [e [He Hlift]].
  { apply (total_has_a_derivative (fun k t => - lift (INR (S k)) (alpha t) (beta t) (gamma t))).
    intros k. exact (proj2 (slopes_have_derivatives _ (at_least_one_pair k))). }
  { rewrite A0, B0, G0.
    assert (P : 0 < total N (fun k => lift (INR (S k)) 0 0 0)).
    { apply total_positive; [exact at_least_one|]. intros k _.
      apply lift_is_positive; [apply at_least_one_pair|lra|].
      destruct (attention_of_a_prefix (INR (S k)) 0 0 (at_least_one_pair k)) as (Hp & _). lra. }
    rewrite (total_equal N _ (fun k => -1 * lift (INR (S k)) 0 0 0)) by (intros; ring).
    rewrite total_scaled. lra. }
  assert (Hb : forall t, 0 < t < d -> beta t < 0).
  { intros t Ht.
    assert (- beta 0 < - beta t); [|lra].
    apply (grows_strictly_where_the_speed_is_positive (fun u => - beta u)
      (fun u => - mean_over_prefixes N (fun n => push_beta n (alpha u) (beta u) (gamma u)))); [|lra|].
    - intros u Hu. apply (is_derive_opp beta), moves_beta, Hu.
    - intros u Hu. apply Ropp_0_gt_lt_contravar, mean_has_the_sign_of_the_total; [exact at_least_one|].
      rewrite (total_equal N _ (fun k => gamma u * slope_of_beta (INR (S k)) (alpha u) (beta u) (gamma u)))
        by (intros; apply push_beta_by_slope).
      rewrite total_scaled. pose proof (causal_gamma_is_positive u ltac:(lra)).
      specialize (Hslope u ltac:(lra)). cbv beta in Hslope. nra. }
  exists (Rmin d e). split; [apply Rmin_glb_lt; assumption|]. intros t Ht.
  pose proof (Rmin_l d e). pose proof (Rmin_r d e). split; [|apply Hb; lra].
  assert (- alpha 0 < - alpha t); [|lra].
  apply (grows_strictly_where_the_speed_is_positive (fun u => - alpha u)
    (fun u => - mean_over_prefixes N (fun n => push_alpha n (alpha u) (beta u) (gamma u)))); [|lra|].
  - intros u Hu. apply (is_derive_opp alpha), moves_alpha, Hu.
  - intros u Hu. apply Ropp_0_gt_lt_contravar, mean_has_the_sign_of_the_total; [exact at_least_one|].
    rewrite (total_equal N _ (fun k => -2 * beta u * gamma u * - lift (INR (S k)) (alpha u) (beta u) (gamma u)))
      by (intros; rewrite push_alpha_by_lift; ring).
    rewrite total_scaled. pose proof (causal_gamma_is_positive u ltac:(lra)). pose proof (Hb u ltac:(lra)).
    specialize (Hlift u ltac:(lra)). cbv beta in Hlift.
    assert (0 < -2 * beta u * gamma u) by nra. nra.
Qed.

(* The region: a face beta = 0, and a face alpha = face on which the lifts are positive. *)
Lemma stays_in_the_region (face : R) :
  0 <= face ->
  (forall a c, 0 < c -> a <= face -> total N (fun k => push_beta (INR (S k)) a 0 c) < 0) ->
  (forall t, 0 < t -> (forall u, 0 < u <= t -> beta u < 0) ->
     0 < total N (fun k => lift (INR (S k)) face (beta t) (gamma t))) ->
  forall t, 0 < t -> beta t < 0 /\ alpha t < face.
Proof.
  intros Hface Hbeta Hlift t Ht. destruct negative_at_first as [d [Hd First]].
  destruct (Rlt_le_dec t d) as [Hs|Hl]; [destruct (First t ltac:(lra)); lra|].
  set (s := d / 2). assert (Hsd : 0 < s < d) by (unfold s; lra).
  replace t with (s + (t - s)) by ring.
  destruct (First s ltac:(lra)) as [Ha Hb].
  apply (never_crosses_two_walls (fun u => beta (s + u)) _ 0 (fun u => alpha (s + u)) _ face (t - s)
    (moves_later beta _ s moves_beta ltac:(lra)) (moves_later alpha _ s moves_alpha ltac:(lra)));
    rewrite ?Rplus_0_r; try lra.
  - intros c Hc _ E Hle. apply mean_has_the_sign_of_the_total; [exact at_least_one|].
    rewrite E. apply Hbeta; [apply causal_gamma_is_positive; lra|exact Hle].
  - intros c Hc Hin E Hlt. apply mean_has_the_sign_of_the_total; [exact at_least_one|].
    rewrite E.
    rewrite (total_equal N _ (fun k => 2 * beta (s + c) * gamma (s + c)
      * lift (INR (S k)) face (beta (s + c)) (gamma (s + c)))) by (intros; apply push_alpha_by_lift).
    rewrite total_scaled. pose proof (causal_gamma_is_positive (s + c) ltac:(lra)).
    assert (P : 0 < total N (fun k => lift (INR (S k)) face (beta (s + c)) (gamma (s + c)))).
    { apply Hlift; [lra|]. intros u Hu. destruct (Rlt_le_dec u d) as [H1|H1]; [apply First; lra|].
      destruct (Req_dec u (s + c)) as [->|Hne]; [exact Hlt|].
      destruct (Hin (u - s) ltac:(lra)) as [H2 _]. replace (s + (u - s)) with u in H2 by ring. exact H2. }
    assert (2 * beta (s + c) * gamma (s + c) < 0) by nra. nra.
Qed.

Lemma region_of_three_prefixes : (3 <= N)%nat -> forall t, 0 < t -> beta t < 0 /\ alpha t < 0.
Proof.
  intros HN. apply stays_in_the_region; [lra| |].
  - intros a c Hc Ha. apply total_push_on_beta; assumption.
  - intros t Ht Hb. apply total_lift; [exact HN|left; apply Hb; lra|]. split.
    + apply causal_gamma_is_not_negative. lra.
    + apply causal_gamma_is_bounded; [exact HN|lra|]. intros u Hu. left. apply Hb, Hu.
Qed.

Lemma region_of_two_prefixes : (N <= 2)%nat -> forall t, 0 < t -> beta t < 0 /\ alpha t < ln 2.
Proof.
  intros HN. apply stays_in_the_region.
  - rewrite <- ln_1. apply ln_le; lra.
  - intros a c Hc Ha. apply total_push_on_beta_of_two; [lia|assumption|assumption].
  - intros t Ht Hb. apply total_positive; [exact at_least_one|]. intros k _.
    apply lift_at_log_2; [apply each_prefix_is_one|left; apply Hb; lra|].
    apply causal_gamma_is_not_negative. lra.
Qed.

(* No head, at any N: beta is negative at all times t > 0. *)
Theorem beta_never_rises (t : R) : 0 < t -> beta t < 0.
Proof.
  intros Ht. destruct (le_lt_dec 3 N) as [H|H].
  - apply region_of_three_prefixes; assumption.
  - apply region_of_two_prefixes; [lia|assumption].
Qed.

(* From three prefixes on alpha is negative, too, and gamma is at most 1 + 37/220. *)
Theorem alpha_never_rises (t : R) : (3 <= N)%nat -> 0 < t -> alpha t < 0.
Proof. intros HN Ht. apply region_of_three_prefixes; assumption. Qed.

Theorem gamma_never_exceeds (t : R) : (3 <= N)%nat -> 0 <= t -> gamma t <= 1 + 37 / 220.
Proof.
  intros HN Ht. replace (1 + 37 / 220) with (257 / 220) by field.
  apply causal_gamma_is_bounded; [exact HN|exact Ht|]. intros u Hu. left. apply beta_never_rises. lra.
Qed.

(* So Definition 3's time is infinite: beta is 0 at the start and negative later. *)
Theorem icl_never_emerges : t_icl alpha beta gamma = p_infty.
Proof.
  apply is_glb_Rbar_unique. split; [|intros b _; destruct b; exact I].
  intros t (Ht & _ & Hb & _). exfalso. destruct (Req_dec t 0) as [->|Hne].
  - pose proof flow as (_ & B0 & _). lra.
  - pose proof (beta_never_rises t ltac:(lra)). lra.
Qed.

End Never.
