(* The order of emergence, for every N >= 2 (Theorem 2; Definition 2 says what emerges). *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.

From Emergence Require Import Arithmetic Calculus Model Flow Speeds.
Open Scope R_scope.

(* [f] reaches 1/2 for the first time at [T]. *)
Definition emerges_at (f : R -> R) (T : R) : Prop :=
  0 <= T /\ f T = 1 / 2 /\ forall u, 0 <= u < T -> f u < 1 / 2.

Section Order.

Variables (N : R) (alpha beta gamma : R -> R).
Hypothesis at_least_two : 2 <= N.
Hypothesis flow : follows_the_flow N alpha beta gamma.

(* gamma emerges by N ln 2. *)
Theorem gamma_emerges : exists T, emerges_at gamma T /\ 0 < T <= N * ln 2.
Proof.
  assert (Hl : 0 < N * ln 2) by (apply Rmult_lt_0_compat; [lra|by_enclosure]).
  destruct (first_time_at_a_level gamma _ (1 / 2) (N * ln 2)
    (speed_of_gamma N alpha beta gamma at_least_two flow)) as [T [HT [HgT Hb]]].
  - lra.
  - destruct flow as (_ & _ & G0 & _). lra.
  - apply Rle_trans with (2 := gamma_from_below N alpha beta gamma at_least_two flow _ (Rlt_le _ _ Hl)).
    replace (- (N * ln 2) / N) with (- ln 2) by (field; lra).
    rewrite exp_Ropp, exp_ln; lra.
  - exists T. repeat split; try lra; assumption.
Qed.

Lemma emerges_once f T U : emerges_at f T -> emerges_at f U -> T = U.
Proof.
  intros (HT & ET & BT) (HU & EU & BU).
  destruct (Rtotal_order T U) as [H|[H|H]]; [|exact H|].
  - specialize (BU T). lra.
  - specialize (BT U). lra.
Qed.

(* While beta <= 1/2 and gamma <= 1/2, beta' <= 7/10 / (N (2N - 1)). *)
Lemma beta_is_slow_at_first t : 0 <= t -> beta t <= 1 / 2 -> gamma t <= 1 / 2 ->
  speed_of_exponent N (alpha t) (beta t) (gamma t) * retrieval N (alpha t)
  <= 7 / 10 / (N * (2 * N - 1)).
Proof.
  intros Ht Hb Hc.
  destruct (attention_is_between_0_and_1 N alpha beta at_least_two t) as (Hp & Ho & _ & Hg).
  destruct (target_is_first N alpha beta gamma at_least_two flow t Ht) as (Hop & [_ Hps] & _).
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow t Ht) as [Ha0 Hb0].
  pose proof (gamma_is_not_negative N alpha beta gamma at_least_two flow t Ht) as Hc0.
  pose proof (alpha_from_above N alpha beta gamma at_least_two flow t Ht) as Ha.
  assert (Ha8 : alpha t <= 1 / 8).
  { assert (beta t ^ 2 <= 1 / 4) by nra.
    apply Rmult_le_reg_l with (2 * N - 1); [lra|]. nra. }
  assert (HA : exp (alpha t) <= 114 / 100)
    by (apply Rle_trans with (exp (1 / 8)); [apply exponential_grows, Ha8|by_enclosure]).
  assert (HA1 : 1 <= exp (alpha t)) by (pose proof (exp_ineq1_le (alpha t)); lra).
  assert (Hg2 : retrieval N (alpha t) <= 114 / 100 / (2 * N - 1)).
  { unfold retrieval, Rdiv. apply Rmult_le_compat; try lra.
    - left. apply Rinv_0_lt_compat. lra.
    - apply Rinv_le_contravar; lra. }
  assert (Hg3 : retrieval N (alpha t) <= 38 / 100).
  { apply Rle_trans with (1 := Hg2). apply Rle_div_l; lra. }
  assert (Hs : signal N (alpha t) (beta t) <= 121 / 100).
  { apply Rle_trans with (exp (1 / 2 * (38 / 100))); [|by_enclosure].
    apply exponential_grows, Rmult_le_compat; lra. }
  assert (Hp2 : target N (alpha t) (beta t) <= 121 / 100 / (2 * N)).
  { apply Rle_trans with (1 := Hps). apply Rmult_le_compat_r; [|exact Hs].
    left. apply Rinv_0_lt_compat. lra. }
  set (p := target N (alpha t) (beta t)) in *. set (o := other N (alpha t) (beta t)) in *.
  set (g := retrieval N (alpha t)) in *.
  apply Rle_trans with (p * g).
  - unfold speed_of_exponent; cbv zeta. fold p o.
    apply Rmult_le_compat_r; [lra|].
    assert (0 <= gamma t * (p - o)) by (apply Rmult_le_pos; lra).
    assert (Hhalf : gamma t * (1 - gamma t * (p - o)) <= 1 / 2) by nra.
    assert (0 <= 2 * (1 - p) * p) by (apply Rmult_le_pos; lra).
    assert (2 * (1 - p) * p <= 2 * p) by nra. nra.
  - apply Rle_trans with (121 / 100 / (2 * N) * (114 / 100 / (2 * N - 1))).
    + apply Rmult_le_compat; lra.
    + replace (121 / 100 / (2 * N) * (114 / 100 / (2 * N - 1)))
        with (6897 / 10000 / (N * (2 * N - 1))) by (field; lra).
      apply Rmult_le_compat_r; [|lra]. left. apply Rinv_0_lt_compat. nra.
Qed.

Lemma beta_is_slow_until T : 0 <= T ->
  (forall u, 0 <= u < T -> beta u <= 1 / 2 /\ gamma u <= 1 / 2) ->
  beta T <= 7 / 10 / (N * (2 * N - 1)) * T.
Proof.
  intros HT Hsmall. set (k := 7 / 10 / (N * (2 * N - 1))).
  assert (H : k * 0 - beta 0 <= k * T - beta T).
  { apply (grows_where_the_speed_is_not_negative (fun u => k * u - beta u)
      (fun u => k - speed_of_exponent N (alpha u) (beta u) (gamma u) * retrieval N (alpha u))); [|lra|].
    - intros u Hu. pose proof (speed_of_beta N alpha beta gamma at_least_two flow u Hu) as D.
      auto_derive; [eexists; eassumption|]. rewrite (derivative_is _ _ _ D). ring.
    - intros u Hu. destruct (Hsmall u ltac:(lra)).
      assert (speed_of_exponent N (alpha u) (beta u) (gamma u) * retrieval N (alpha u) <= k); [|lra].
      apply beta_is_slow_at_first; lra. }
  destruct flow as (_ & B0 & _). rewrite B0 in H. lra.
Qed.

(* gamma emerges before beta. *)
Theorem gamma_before_beta (T_gamma T_beta : R) :
  emerges_at gamma T_gamma -> emerges_at beta T_beta -> T_gamma < T_beta.
Proof.
  intros Hc Hb. apply Rnot_le_lt. intros Hle.
  destruct gamma_emerges as [T [HT [_ Hln]]].
  rewrite (emerges_once _ _ _ HT Hc) in Hln. clear T HT.
  destruct Hc as (_ & Ec & Bc). destruct Hb as (Hb0 & Eb & Bb).
  assert (H : beta T_beta <= 7 / 10 / (N * (2 * N - 1)) * T_beta).
  { apply beta_is_slow_until; [exact Hb0|].
    intros u Hu. specialize (Bc u). specialize (Bb u). lra. }
  assert (Hl : ln 2 <= 7 / 10) by by_enclosure.
  assert (HkT : 7 / 10 / (N * (2 * N - 1)) * T_beta <= 7 / 10 * (7 / 10) / 3).
  { apply Rle_trans with (7 / 10 / (N * (2 * N - 1)) * (N * (7 / 10))).
    - apply Rmult_le_compat_l; [apply Rdiv_le_0_compat; nra|nra].
    - replace (7 / 10 / (N * (2 * N - 1)) * (N * (7 / 10)))
        with (7 / 10 * (7 / 10) / (2 * N - 1)) by (field; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra. }
  lra.
Qed.

(* beta emerges before alpha: where alpha = 1/2 the first integral gives beta > 1. *)
Theorem beta_before_alpha (T_beta T_alpha : R) :
  emerges_at beta T_beta -> emerges_at alpha T_alpha -> T_beta < T_alpha.
Proof.
  intros (Hb0 & Eb & Bb) (Ha0 & Ea & Ba). apply Rnot_le_lt. intros Hle.
  assert (Hb : beta T_alpha <= 1 / 2).
  { destruct (Req_dec T_alpha T_beta) as [->|]; [lra|]. specialize (Bb T_alpha). lra. }
  pose proof (alpha_from_above N alpha beta gamma at_least_two flow T_alpha Ha0) as H.
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow T_alpha Ha0).
  rewrite Ea in H. assert (beta T_alpha ^ 2 <= 1 / 4) by nra. nra.
Qed.

(* T_gamma < T_beta < T_alpha. *)
Theorem order_of_emergence (T_gamma T_beta T_alpha : R) :
  emerges_at gamma T_gamma -> emerges_at beta T_beta -> emerges_at alpha T_alpha ->
  T_gamma < T_beta < T_alpha.
Proof.
  intros Hc Hb Ha. split; [apply gamma_before_beta; assumption|apply beta_before_alpha; assumption].
Qed.

End Order.
