(* The gradient flow from zero: first integral, invariant region, growth (App. B.5, B.6.3, B.7.1).

   [follows_the_flow N alpha beta gamma] says that the three functions of time go down the gradient
   of the loss from zero. Each theorem holds for every such triple and every real N >= 2. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.

From Emergence Require Import Arithmetic Calculus Model.
Open Scope R_scope.

(* Layer 2: the attention p of the query to the target label, and o to each of 2N - 1 others. *)
Definition target (N alpha beta : R) : R :=
  signal N alpha beta / (signal N alpha beta + 2 * N - 1).
Definition other (N alpha beta : R) : R := 1 / (signal N alpha beta + 2 * N - 1).

(* The speed of the exponent beta g, up to what alpha and beta each make of it. *)
Definition speed_of_exponent (N alpha beta gamma : R) : R :=
  let p := target N alpha beta in let o := other N alpha beta in
  2 * (1 - p) * p * gamma * (1 - gamma * (p - o)).

(* How fast the flow goes down: what Coq derives of the loss, in the attention's words. *)
Lemma descent_of_alpha N a b c : 2 <= N ->
  - Derive (fun x => loss N x b c) a
  = speed_of_exponent N a b c * retrieval N a * (b * (1 - retrieval N a)).
Proof.
  intros HN.
  replace (Derive (fun x => loss N x b c) a) with (slope_alpha N a b c)
    by (symmetry; apply is_derive_unique, derivative_by_alpha, HN).
  unfold speed_of_exponent, slope_alpha, target, other, retrieval.
  pose proof (exp_pos a). pose proof (signal_is_positive N a b). field. lra.
Qed.

Lemma descent_of_beta N a b c : 2 <= N ->
  - Derive (fun x => loss N a x c) b = speed_of_exponent N a b c * retrieval N a.
Proof.
  intros HN.
  replace (Derive (fun x => loss N a x c) b) with (slope_beta N a b c)
    by (symmetry; apply is_derive_unique, derivative_by_beta, HN).
  unfold speed_of_exponent, slope_beta, target, other, retrieval.
  pose proof (exp_pos a). pose proof (signal_is_positive N a b). field. lra.
Qed.

Lemma descent_of_gamma N a b c : 2 <= N ->
  - Derive (fun x => loss N a b x) c
  = 2 * target N a b - 2 * c * (target N a b ^ 2 + (2 * N - 1) * other N a b ^ 2).
Proof.
  intros HN.
  replace (Derive (fun x => loss N a b x) c) with (slope_gamma N a b c)
    by (symmetry; apply is_derive_unique, derivative_by_gamma, HN).
  unfold slope_gamma, target, other.
  pose proof (signal_is_positive N a b). field. lra.
Qed.

Lemma attention_bounds N a b : 2 <= N ->
  0 < target N a b < 1 /\ 0 < other N a b /\
  target N a b + (2 * N - 1) * other N a b = 1 /\ 0 < retrieval N a < 1.
Proof.
  intros HN. unfold target, other, retrieval.
  pose proof (exp_pos a). pose proof (signal_is_positive N a b).
  set (S := signal N a b) in *. set (A := exp a) in *.
  assert (0 < S + 2 * N - 1) by lra. assert (0 < A + 2 * N - 2) by lra.
  repeat split.
  - apply Rdiv_lt_0_compat; lra.
  - apply Rlt_div_l; lra.
  - apply Rdiv_lt_0_compat; lra.
  - field; lra.
  - apply Rdiv_lt_0_compat; lra.
  - apply Rlt_div_l; lra.
Qed.

(* Gradient flow from zero on any loss of three parameters (Assumptions 5 and 6). *)
Definition descends (L : R -> R -> R -> R) (alpha beta gamma : R -> R) : Prop :=
  alpha 0 = 0 /\ beta 0 = 0 /\ gamma 0 = 0 /\
  forall t, 0 <= t ->
    is_derive alpha t (- Derive (fun a => L a (beta t) (gamma t)) (alpha t)) /\
    is_derive beta t (- Derive (fun b => L (alpha t) b (gamma t)) (beta t)) /\
    is_derive gamma t (- Derive (fun c => L (alpha t) (beta t) c) (gamma t)).

Definition follows_the_flow (N : R) : (R -> R) -> (R -> R) -> (R -> R) -> Prop := descends (loss N).

Section Flow.

Variables (N : R) (alpha beta gamma : R -> R).
Hypothesis at_least_two : 2 <= N.
Hypothesis flow : follows_the_flow N alpha beta gamma.

Notation g t := (retrieval N (alpha t)).
Notation s t := (signal N (alpha t) (beta t)).
Notation p t := (target N (alpha t) (beta t)).
Notation o t := (other N (alpha t) (beta t)).
Notation push t := (speed_of_exponent N (alpha t) (beta t) (gamma t)).
Notation speed_alpha := (fun t => push t * g t * (beta t * (1 - g t))).
Notation speed_beta := (fun t => push t * g t).
Notation speed_gamma :=
  (fun t => 2 * p t - 2 * gamma t * (p t ^ 2 + (2 * N - 1) * o t ^ 2)).

Lemma speed_of_alpha : moves alpha speed_alpha.
Proof.
  intros t Ht. destruct flow as (_ & _ & _ & F). destruct (F t Ht) as (D & _ & _).
  rewrite descent_of_alpha in D by exact at_least_two. exact D.
Qed.

Lemma speed_of_beta : moves beta speed_beta.
Proof.
  intros t Ht. destruct flow as (_ & _ & _ & F). destruct (F t Ht) as (_ & D & _).
  rewrite descent_of_beta in D by exact at_least_two. exact D.
Qed.

Lemma speed_of_gamma : moves gamma speed_gamma.
Proof.
  intros t Ht. destruct flow as (_ & _ & _ & F). destruct (F t Ht) as (_ & _ & D).
  rewrite descent_of_gamma in D by exact at_least_two. exact D.
Qed.

Lemma attention_is_between_0_and_1 t :
  0 < p t < 1 /\ 0 < o t /\ p t + (2 * N - 1) * o t = 1 /\ 0 < g t < 1.
Proof. apply attention_bounds, at_least_two. Qed.

(* The first integral: e^alpha - 1 + (2N - 2) alpha = (N - 1) beta^2 at all times. *)
Theorem first_integral (t : R) : 0 <= t ->
  exp (alpha t) - 1 + (2 * N - 2) * alpha t = (N - 1) * beta t ^ 2.
Proof.
  intros Ht.
  set (I := fun u => exp (alpha u) - 1 + (2 * N - 2) * alpha u - (N - 1) * beta u ^ 2).
  assert (E : I t = I 0).
  { apply stays_where_the_speed_is_zero with
      (speed := fun u => (exp (alpha u) + 2 * N - 2) * speed_alpha u
                         - 2 * (N - 1) * beta u * speed_beta u); [|exact Ht|].
    - intros u Hu. unfold I.
      pose proof (speed_of_alpha u Hu) as Da. pose proof (speed_of_beta u Hu) as Db.
      auto_derive.
      + repeat split; eexists; eassumption.
      + rewrite (derivative_is _ _ _ Da), (derivative_is _ _ _ Db). ring.
    - intros u _. unfold retrieval.
      pose proof (exp_pos (alpha u)). field. lra. }
  destruct flow as (A0 & B0 & _). unfold I in E. rewrite A0, B0, exp_0 in E. lra.
Qed.

Lemma gamma_is_not_negative t : 0 <= t -> 0 <= gamma t.
Proof.
  intros Ht. apply Rnot_lt_le. intros Hneg.
  assert (H : - gamma t < - gamma t); [|lra].
  apply (never_crosses_a_wall (fun u => - gamma u) (fun u => - speed_gamma u)); try lra.
  - intros u Hu. apply (is_derive_opp gamma), speed_of_gamma, Hu.
  - destruct flow as (_ & _ & G0 & _). lra.
  - intros c Hc Hgc _. cbv beta.
    destruct (attention_is_between_0_and_1 c) as (Hp & Ho & _ & _).
    assert (0 <= (p c ^ 2 + (2 * N - 1) * o c ^ 2)) by nra.
    assert (gamma c < 0) by lra. nra.
Qed.

(* gamma is positive from the start on. *)
Theorem gamma_is_positive (t : R) : 0 < t -> 0 < gamma t.
Proof.
  intros Ht.
  (* e^(2t) gamma grows strictly, since p^2 + (2N - 1) o^2 <= p + (2N - 1) o = 1 *)
  assert (H : exp (2 * 0) * gamma 0 < exp (2 * t) * gamma t).
  { apply (grows_strictly_where_the_speed_is_positive (fun u => exp (2 * u) * gamma u)
      (fun u => exp (2 * u) * (2 * gamma u + speed_gamma u))); [|lra|].
    - intros u Hu. pose proof (speed_of_gamma u Hu) as D. auto_derive.
      + repeat split; eexists; eassumption.
      + rewrite (derivative_is _ _ _ D). ring.
    - intros u Hu. apply Rmult_lt_0_compat; [apply exp_pos|]. cbv beta.
      pose proof (gamma_is_not_negative u ltac:(lra)).
      destruct (attention_is_between_0_and_1 u) as (Hp & Ho & Hsum & _).
      assert (Ho1 : o u < 1) by nra.
      assert (Hn : p u ^ 2 + (2 * N - 1) * o u ^ 2 <= 1).
      { assert (p u * p u <= p u) by nra. assert (o u * o u <= o u) by nra. nra. }
      nra. }
  destruct flow as (_ & _ & G0 & _). rewrite G0 in H.
  pose proof (exp_pos (2 * t)). nra.
Qed.

(* p - o moves only when the exponent beta g does. *)
Lemma speed_of_lead : exists k : R -> R,
  moves (fun t => gamma t * (p t - o t))
        (fun t => speed_gamma t * (p t - o t) + gamma t * (k t * push t)).
Proof.
  exists (fun t => 2 * N / (s t + 2 * N - 1) ^ 2 * s t
                   * (g t * g t + beta t * g t * (1 - g t) * (beta t * g t * (1 - g t)))).
  intros t Ht.
  pose proof (speed_of_alpha t Ht) as Da. pose proof (speed_of_beta t Ht) as Db.
  pose proof (speed_of_gamma t Ht) as Dc.
  pose proof (exp_pos (alpha t)) as Ha. pose proof (signal_is_positive N (alpha t) (beta t)) as Hs.
  assert (Ds : is_derive (fun t => s t) t (s t * (speed_beta t * g t + beta t * (g t * (1 - g t) * speed_alpha t)))).
  { unfold signal, retrieval. auto_derive.
    - repeat split; try (eexists; eassumption). lra.
    - rewrite (derivative_is _ _ _ Da), (derivative_is _ _ _ Db).
      replace (exp (alpha t) * / (exp (alpha t) + 2 * N + - (2))) with (g t)
        by (unfold retrieval; field; lra).
      fold (retrieval N (alpha t)).
      set (e := exp (beta t * g t)). clearbody e. unfold retrieval. field. lra. }
  set (S := fun t : R => s t).
  change (is_derive S t (S t * (speed_beta t * g t + beta t * (g t * (1 - g t) * speed_alpha t)))) in Ds.
  change (fun t => gamma t * (p t - o t))
    with (fun t => gamma t * (S t / (S t + 2 * N - 1) - 1 / (S t + 2 * N - 1))).
  change (0 < S t) in Hs. cbv beta in Dc, Ds.
  set (w := speed_of_exponent N (alpha t) (beta t) (gamma t)) in *.
  set (G := retrieval N (alpha t)) in *. clearbody w G.
  change (p t) with (S t / (S t + 2 * N - 1)) in *.
  change (o t) with (1 / (S t + 2 * N - 1)) in *.
  change (s t) with (S t). clearbody S.
  auto_derive.
  - repeat split; try (eexists; eassumption); lra.
  - rewrite (derivative_is _ _ _ Ds), (derivative_is _ _ _ Dc). field. lra.
Qed.

(* The invariant region: gamma (p - o) stays below 1. *)
Theorem invariant_region (t : R) : 0 <= t ->
  gamma t * (target N (alpha t) (beta t) - other N (alpha t) (beta t)) < 1.
Proof.
  intros Ht. destruct speed_of_lead as [k Hk].
  apply (never_crosses_a_wall _ _ 1 t Hk); [|exact Ht|].
  - destruct flow as (_ & _ & G0 & _). rewrite G0. lra.
  - intros c Hc H1 _.
    replace (push c) with 0 by (unfold speed_of_exponent; cbv zeta; rewrite H1; ring).
    cbv beta.
    destruct (attention_is_between_0_and_1 c) as (Hp & Ho & Hsum & _).
    (* gamma' (p - o) = 2 p (p - o) - 2 (p^2 + (2N - 1) o^2) = - 2 o *)
    replace ((2 * p c - 2 * gamma c * (p c ^ 2 + (2 * N - 1) * o c ^ 2)) * (p c - o c)
             + gamma c * (k c * 0))
      with (2 * p c * (p c - o c)
            - 2 * (gamma c * (p c - o c)) * (p c ^ 2 + (2 * N - 1) * o c ^ 2)) by ring.
    rewrite H1.
    replace ((2 * N - 1) * o c ^ 2) with ((1 - p c) * o c)
      by (replace (1 - p c) with ((2 * N - 1) * o c) by lra; ring).
    nra.
Qed.

Lemma push_is_positive t : 0 < t -> 0 < push t.
Proof.
  intros Ht. unfold speed_of_exponent; cbv zeta.
  destruct (attention_is_between_0_and_1 t) as (Hp & _).
  pose proof (gamma_is_positive t Ht). pose proof (invariant_region t ltac:(lra)) as Hi.
  change (gamma t * (p t - o t) < 1) in Hi.
  assert (0 < 1 - gamma t * (p t - o t)) by lra. assert (0 < 1 - p t) by lra.
  do 4 (apply Rmult_lt_0_compat; [|lra]). lra.
Qed.

(* beta grows strictly. *)
Theorem beta_grows (a b : R) : 0 <= a < b -> beta a < beta b.
Proof.
  intros Hab. apply (grows_strictly_where_the_speed_is_positive _ _ _ _ speed_of_beta Hab).
  intros t Ht. cbv beta. destruct (attention_is_between_0_and_1 t) as (_ & _ & _ & Hg).
  apply Rmult_lt_0_compat; [apply push_is_positive; lra|lra].
Qed.

Theorem beta_is_positive (t : R) : 0 < t -> 0 < beta t.
Proof.
  intros Ht. pose proof (beta_grows 0 t). destruct flow as (_ & B0 & _). lra.
Qed.

(* alpha grows strictly. *)
Theorem alpha_grows (a b : R) : 0 <= a < b -> alpha a < alpha b.
Proof.
  intros Hab. apply (grows_strictly_where_the_speed_is_positive _ _ _ _ speed_of_alpha Hab).
  intros t Ht. cbv beta. destruct (attention_is_between_0_and_1 t) as (_ & _ & _ & Hg).
  pose proof (beta_is_positive t ltac:(lra)). pose proof (push_is_positive t ltac:(lra)).
  apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|].
  apply Rmult_lt_0_compat; lra.
Qed.

Theorem alpha_is_positive (t : R) : 0 < t -> 0 < alpha t.
Proof.
  intros Ht. pose proof (alpha_grows 0 t). destruct flow as (A0 & _). lra.
Qed.

Lemma alpha_and_beta_are_not_negative t : 0 <= t -> 0 <= alpha t /\ 0 <= beta t.
Proof.
  intros Ht. destruct (Req_dec t 0) as [->|].
  - destruct flow as (A0 & B0 & _). lra.
  - pose proof (alpha_is_positive t). pose proof (beta_is_positive t). lra.
Qed.

Lemma signal_is_at_least_1 t : 0 <= t -> 1 <= s t.
Proof.
  intros Ht. destruct (alpha_and_beta_are_not_negative t Ht) as [_ Hb].
  destruct (attention_is_between_0_and_1 t) as (_ & _ & _ & Hg).
  unfold signal. assert (0 <= beta t * g t) by (apply Rmult_le_pos; lra).
  pose proof (exp_ineq1_le (beta t * g t)). lra.
Qed.

(* While alpha <= 1/2 the first integral bounds the exponent, and so the signal s. *)
Lemma signal_is_bounded_until_alpha_emerges t : 0 <= t -> alpha t <= 1 / 2 ->
  s t <= 179 / 100 /\ (3 <= N -> s t <= 14 / 10).
Proof.
  intros Ht Ha. destruct (alpha_and_beta_are_not_negative t Ht) as [Ha0 Hb0].
  pose proof (first_integral t Ht) as I.
  assert (HA : exp (alpha t) <= 16488 / 10000).
  { apply Rle_trans with (exp (1 / 2)); [|by_enclosure].
    destruct Ha as [Ha|Ha]; [left; apply exp_increasing, Ha|rewrite Ha; lra]. }
  pose proof (exp_pos (alpha t)) as HA0.
  destruct (attention_is_between_0_and_1 t) as (_ & _ & _ & Hg).
  assert (bound : forall b c d, beta t <= b -> g t <= c -> exp (b * c) <= d -> s t <= d).
  { intros b c d Hb Hc Hd. apply Rle_trans with (2 := Hd). unfold signal.
    assert (H : beta t * g t <= b * c) by (apply Rmult_le_compat; lra).
    destruct H as [H|H]; [left; apply exp_increasing, H|rewrite H; lra]. }
  assert (Hlin : (2 * N - 2) * alpha t <= N - 1) by nra.
  split; [|intros H3].
  - assert (Hb2 : beta t ^ 2 <= 16488 / 10000) by (apply Rmult_le_reg_l with (N - 1); lra).
    apply (bound (12841 / 10000) (4519 / 10000)); [nra| |by_enclosure].
    unfold retrieval. apply Rle_div_l; lra.
  - assert (Hb2 : beta t ^ 2 <= 13244 / 10000) by (apply Rmult_le_reg_l with (N - 1); lra).
    apply (bound (11509 / 10000) (2919 / 10000)); [nra| |by_enclosure].
    unfold retrieval. apply Rle_div_l; lra.
Qed.

(* gamma stays below 3/2 until alpha emerges. *)
Theorem gamma_is_below_three_halves (t : R) : 0 <= t -> alpha t <= 1 / 2 -> gamma t < 3 / 2.
Proof.
  intros Ht Ha. apply (never_crosses_a_wall _ _ _ _ speed_of_gamma); [|exact Ht|].
  - destruct flow as (_ & _ & G0 & _). lra.
  - intros c Hc Hgc _. cbv beta. rewrite Hgc.
    assert (Hac : alpha c <= 1 / 2).
    { destruct (Req_dec c t) as [->|]; [exact Ha|]. pose proof (alpha_grows c t). lra. }
    destruct (signal_is_bounded_until_alpha_emerges c ltac:(lra) Hac) as [H2 H3].
    pose proof (signal_is_at_least_1 c ltac:(lra)) as H1.
    unfold target, other. set (S := s c) in *. clearbody S.
    (* gamma' = - (s^2 - 2 s (2N - 1) + 3 (2N - 1)) / (s + 2N - 1)^2 *)
    replace (2 * (S / (S + 2 * N - 1))
             - 2 * (3 / 2) * ((S / (S + 2 * N - 1)) ^ 2 + (2 * N - 1) * (1 / (S + 2 * N - 1)) ^ 2))
      with (- ((S ^ 2 - 2 * S * (2 * N - 1) + 3 * (2 * N - 1)) / (S + 2 * N - 1) ^ 2))
      by (field; lra).
    apply Ropp_lt_gt_0_contravar, Rdiv_lt_0_compat; [|nra].
    destruct (Rle_lt_dec 3 N) as [H|H].
    + specialize (H3 H). nra.
    + destruct (Rle_lt_dec S (3 / 2)); nra.
Qed.

End Flow.
