(* Two-sided estimates of the speeds, with explicit constants (App. B.6 to B.8, sharpened).

   Each is for every real N >= 2. With e = e^(-t/N) they say
     1 - e <= gamma <= s (1 - e),
     (2N - 1) g (1 - e) / 2N^2 <= beta' <= 2 p (1 - p) g s (1 - e). *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.

From Emergence Require Import Arithmetic Calculus Model Flow.
Open Scope R_scope.

Section Speeds.

Variables (N : R) (alpha beta gamma : R -> R).
Hypothesis at_least_two : 2 <= N.
Hypothesis flow : follows_the_flow N alpha beta gamma.

Notation g t := (retrieval N (alpha t)).
Notation s t := (signal N (alpha t) (beta t)).
Notation p t := (target N (alpha t) (beta t)).
Notation o t := (other N (alpha t) (beta t)).
Notation push t := (speed_of_exponent N (alpha t) (beta t) (gamma t)).

Let between t := attention_is_between_0_and_1 N alpha beta at_least_two t.
Let nonneg t Ht := alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow t Ht.
Let signal_1 t Ht := signal_is_at_least_1 N alpha beta gamma at_least_two flow t Ht.
Let gamma_nonneg t Ht := gamma_is_not_negative N alpha beta gamma at_least_two flow t Ht.
Let moves_gamma := speed_of_gamma N alpha beta gamma at_least_two flow.
Let moves_beta := speed_of_beta N alpha beta gamma at_least_two flow.
Let integral t Ht := first_integral N alpha beta gamma at_least_two flow t Ht.

Lemma exponential_grows a b : a <= b -> exp a <= exp b.
Proof. intros [H| ->]; [left; apply exp_increasing, H|lra]. Qed.

Lemma start_is_fast t : 0 <= t -> 0 <= 1 - exp (- t / N) < 1.
Proof.
  intros Ht. pose proof (exp_pos (- t / N)).
  assert (exp (- t / N) <= exp 0); [|rewrite exp_0 in *; lra].
  apply exponential_grows. unfold Rdiv. apply Rmult_le_reg_r with N; [lra|].
  rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma start_moves : moves (fun t => 1 - exp (- t / N)) (fun t => exp (- t / N) / N).
Proof. intros t _. unfold Rdiv. auto_derive; [trivial|]. ring. Qed.

Lemma target_is_first t : 0 <= t -> o t <= p t /\ 1 / (2 * N) <= p t <= s t / (2 * N) /\ o t <= 1 / (2 * N).
Proof.
  intros Ht. pose proof (signal_1 t Ht) as H1. unfold target, other.
  set (S := s t) in *. clearbody S.
  assert (0 < / (S + 2 * N - 1)) by (apply Rinv_0_lt_compat; lra).
  repeat split.
  - unfold Rdiv. apply Rmult_le_compat_r; lra.
  - apply Rle_div_l; [lra|]. replace (S / (S + 2 * N - 1) * (2 * N)) with (S * (2 * N) / (S + 2 * N - 1)) by (field; lra).
    apply Rle_div_r; nra.
  - unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

(* gamma >= 1 - e^(-t/N) at all times. *)
Lemma gamma_from_below t : 0 <= t -> 1 - exp (- t / N) <= gamma t.
Proof.
  intros Ht. apply Rnot_lt_le. intros Hlt.
  set (eps := (1 - exp (- t / N) - gamma t) / 2).
  assert (Heps : 0 < eps) by (unfold eps; lra).
  assert (H : 1 - exp (- t / N) - gamma t < eps); [|unfold eps in H; lra].
  apply (never_crosses_a_wall (fun u => 1 - exp (- u / N) - gamma u)
    (fun u => exp (- u / N) / N - (2 * p u - 2 * gamma u * (p u ^ 2 + (2 * N - 1) * o u ^ 2)))).
  - intros u Hu. apply (is_derive_minus (fun u => 1 - exp (- u / N)) gamma);
      [apply start_moves, Hu|apply moves_gamma, Hu].
  - pose proof flow as (_ & _ & G0 & _). rewrite G0.
    replace (- 0 / N) with 0 by (field; lra). rewrite exp_0. lra.
  - exact Ht.
  - intros c Hc Hceps _. destruct (between c) as (Hp & Ho & Hsum & _).
    destruct (target_is_first c ltac:(lra)) as (Hop & [Hp1 _] & _).
    pose proof (gamma_nonneg c ltac:(lra)) as Hg. pose proof (exp_pos (- c / N)) as He.
    assert (Hn : p c ^ 2 + (2 * N - 1) * o c ^ 2 <= p c).
    { replace ((2 * N - 1) * o c ^ 2) with ((1 - p c) * o c)
        by (replace (1 - p c) with ((2 * N - 1) * o c) by lra; ring). nra. }
    assert (H1 : 2 * p c - 2 * gamma c * (p c ^ 2 + (2 * N - 1) * o c ^ 2) >= 2 * p c * (1 - gamma c)) by nra.
    assert (H2 : 2 * p c * (1 - gamma c) >= (1 - gamma c) / N).
    { apply Rle_ge. replace ((1 - gamma c) / N) with (2 * (1 / (2 * N)) * (1 - gamma c)) by (field; lra). nra. }
    assert (H3 : (1 - gamma c) / N = exp (- c / N) / N + eps / N) by (rewrite <- Hceps; field; lra).
    assert (0 < eps / N) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

Lemma signal_grows a b : 0 <= a <= b -> s a <= s b.
Proof.
  intros Hab. destruct (Req_dec a b) as [->|Hne]; [lra|].
  pose proof (alpha_grows N alpha beta gamma at_least_two flow a b ltac:(lra)) as Ha.
  pose proof (beta_grows N alpha beta gamma at_least_two flow a b ltac:(lra)) as Hb.
  destruct (nonneg a ltac:(lra)) as [_ Hb0]. destruct (between a) as (_ & _ & _ & Hg).
  apply exponential_grows, Rmult_le_compat; try lra.
  unfold retrieval. apply exp_increasing in Ha. pose proof (exp_pos (alpha a)).
  apply Rle_div_l; [lra|].
  replace (exp (alpha b) / (exp (alpha b) + 2 * N - 2) * (exp (alpha a) + 2 * N - 2))
    with (exp (alpha b) * (exp (alpha a) + 2 * N - 2) / (exp (alpha b) + 2 * N - 2)) by (field; lra).
  apply Rle_div_r; nra.
Qed.

(* gamma <= s (1 - e^(-t/N)) at all times. *)
Lemma gamma_from_above t : 0 <= t -> gamma t <= s t * (1 - exp (- t / N)).
Proof.
  intros Ht. set (S := s t).
  assert (H : exp (0 / N) * (S - gamma 0) <= exp (t / N) * (S - gamma t)).
  { apply (grows_where_the_speed_is_not_negative (fun u => exp (u / N) * (S - gamma u))
      (fun u => exp (u / N) * ((S - gamma u) / N
         - (2 * p u - 2 * gamma u * (p u ^ 2 + (2 * N - 1) * o u ^ 2))))); [|lra|].
    - intros u Hu. pose proof (moves_gamma u Hu) as D. cbv beta in D. auto_derive.
      + repeat split; eexists; eassumption.
      + rewrite (derivative_is _ _ _ D). unfold Rdiv. ring.
    - intros u Hu. apply Rmult_le_pos; [left; apply exp_pos|].
      destruct (between u) as (Hp & Ho & Hsum & _).
      destruct (target_is_first u ltac:(lra)) as (_ & [_ Hps] & _).
      pose proof (signal_grows u t ltac:(lra)) as Hs.
      pose proof (gamma_nonneg u ltac:(lra)) as Hg.
      assert (Hn : 1 / (2 * N) <= p u ^ 2 + (2 * N - 1) * o u ^ 2).
      { (* Cauchy-Schwarz for p + (2N - 1) o = 1 *)
        apply Rle_div_l; [lra|].
        assert (0 <= (2 * N - 1) * (p u - o u) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
        assert (Hsquare : (p u + (2 * N - 1) * o u) ^ 2 = 1) by (rewrite Hsum; ring). lra. }
      assert (H1 : 2 * p u <= S / N).
      { apply Rle_trans with (2 * (s u / (2 * N))); [lra|].
        replace (2 * (s u / (2 * N))) with (s u * / N) by (field; lra).
        apply Rmult_le_compat_r; [|exact Hs]. left. apply Rinv_0_lt_compat. lra. }
      assert (H2 : gamma u / N <= 2 * gamma u * (p u ^ 2 + (2 * N - 1) * o u ^ 2)).
      { replace (gamma u / N) with (2 * gamma u * (1 / (2 * N))) by (field; lra). nra. }
      replace ((S - gamma u) / N) with (S / N - gamma u / N) by (field; lra). lra. }
  pose proof flow as (_ & _ & G0 & _). rewrite G0 in H.
  replace (0 / N) with 0 in H by (field; lra). rewrite exp_0 in H.
  assert (E : exp (- t / N) * exp (t / N) = 1).
  { rewrite <- exp_plus. replace (- t / N + t / N) with 0 by (field; lra). apply exp_0. }
  pose proof (exp_pos (- t / N)) as Hpos.
  apply (Rmult_le_compat_l (exp (- t / N))) in H; [|lra].
  rewrite <- (Rmult_assoc _ (exp (t / N))), E in H. lra.
Qed.

(* beta' <= 2 p (1 - p) g s (1 - e^(-t/N)) *)
Lemma beta_speed_from_above t : 0 <= t ->
  push t * g t <= 2 * p t * (1 - p t) * g t * (s t * (1 - exp (- t / N))).
Proof.
  intros Ht. destruct (between t) as (Hp & Ho & _ & Hg).
  destruct (target_is_first t Ht) as (Hop & _).
  pose proof (gamma_nonneg t Ht) as Hc. pose proof (gamma_from_above t Ht) as Hs.
  unfold speed_of_exponent; cbv zeta.
  assert (0 <= 2 * (1 - p t) * p t * g t).
  { apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; lra. }
  assert (gamma t * (1 - gamma t * (p t - o t)) <= gamma t).
  { assert (0 <= gamma t * (p t - o t)) by (apply Rmult_le_pos; lra). nra. }
  nra.
Qed.

(* beta' >= (2N - 1) g (1 - e^(-t/N)) / 2N^2 until alpha emerges *)
Lemma beta_speed_from_below t : 0 <= t -> alpha t <= 1 / 2 ->
  (2 * N - 1) * g t * (1 - exp (- t / N)) / (2 * N ^ 2) <= push t * g t.
Proof.
  intros Ht Ha. destruct (between t) as (Hp & _ & _ & Hg).
  pose proof (gamma_from_below t Ht) as Hlow. pose proof (gamma_from_above t Ht) as Hup.
  pose proof (signal_1 t Ht) as H1. pose proof (start_is_fast t Ht) as He.
  destruct (signal_is_bounded_until_alpha_emerges N alpha beta gamma at_least_two flow t Ht Ha) as [H2 _].
  unfold speed_of_exponent; cbv zeta.
  set (e := 1 - exp (- t / N)) in Hlow, Hup, He |- *. clearbody e.
  set (c := gamma t) in Hlow, Hup |- *. clearbody c.
  replace ((2 * N - 1) * g t * e / (2 * N ^ 2)) with ((2 * N - 1) * e / (2 * N ^ 2) * g t) by (field; lra).
  apply Rmult_le_compat_r; [lra|].
  unfold target, other in Hp |- *. set (S := s t) in Hp, Hup, H1, H2 |- *. clearbody S.
  set (d := (S - 1) / (S + 2 * N - 1)).
  replace (S / (S + 2 * N - 1) - 1 / (S + 2 * N - 1)) with d by (unfold d; field; lra).
  assert (Hd : 0 <= d) by (apply Rdiv_le_0_compat; lra).
  assert (Hd1 : d * (S + 1) <= 1).
  { unfold d. replace ((S - 1) / (S + 2 * N - 1) * (S + 1)) with ((S ^ 2 - 1) / (S + 2 * N - 1)) by (field; lra).
    apply Rle_div_l; nra. }
  assert (Hc : e * (1 - d) <= c * (1 - c * d)).
  { destruct (Rle_lt_dec c 1).
    - assert (0 <= 1 - d) by nra.
      assert (e * (1 - d) <= c * (1 - d)) by (apply Rmult_le_compat_r; lra).
      assert (0 <= c) by lra. assert (0 <= d * c * (1 - c)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      nra.
    - assert (c <= S) by nra. assert (d * (c + 1) <= 1) by nra.
      assert (0 <= (c - 1) * (1 - d * (c + 1))) by (apply Rmult_le_pos; lra). nra. }
  assert (K : (2 * N - 1) / (2 * N ^ 2) <= 2 * (1 - S / (S + 2 * N - 1)) * (S / (S + 2 * N - 1)) * (1 - d)).
  { unfold d. replace (2 * (1 - S / (S + 2 * N - 1)) * (S / (S + 2 * N - 1)) * (1 - (S - 1) / (S + 2 * N - 1)))
      with (4 * N * (2 * N - 1) * S / (S + 2 * N - 1) ^ 3) by (field; lra).
    assert (0 < (S + 2 * N - 1) ^ 3) by (apply pow_lt; lra).
    assert (Hcube : (S + 2 * N - 1) ^ 3 <= 8 * N ^ 3 * S).
    { replace S with (1 + (S - 1)) by ring. set (x := S - 1).
      assert (0 <= x <= 79 / 100) by (unfold x; lra). clearbody x.
      assert (Hq : 12 * N ^ 2 + 6 * N * x + x ^ 2 <= 8 * N ^ 3) by nra.
      replace (8 * N ^ 3 * (1 + x) - 0) with (8 * N ^ 3 * (1 + x)) by ring. nra. }
    apply Rle_div_l; [nra|].
    replace (4 * N * (2 * N - 1) * S / (S + 2 * N - 1) ^ 3 * (2 * N ^ 2))
      with ((2 * N - 1) * (8 * N ^ 3 * S) / (S + 2 * N - 1) ^ 3) by (field; lra).
    apply Rle_div_r; [assumption|]. nra. }
  replace ((2 * N - 1) * e / (2 * N ^ 2)) with ((2 * N - 1) / (2 * N ^ 2) * e) by (field; lra).
  assert (Hp' : 0 <= 2 * (1 - S / (S + 2 * N - 1)) * (S / (S + 2 * N - 1))) by (apply Rmult_le_pos; lra).
  set (w := 2 * (1 - S / (S + 2 * N - 1)) * (S / (S + 2 * N - 1))) in Hp', K |- *.
  rewrite Rmult_assoc.
  apply Rle_trans with (w * (1 - d) * e); [apply Rmult_le_compat_r; lra|].
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact Hp'|]. lra.
Qed.

(* alpha <= (N - 1) beta^2 / (2N - 1), from e^alpha - 1 >= alpha *)
Lemma alpha_from_above t : 0 <= t -> (2 * N - 1) * alpha t <= (N - 1) * beta t ^ 2.
Proof.
  intros Ht. pose proof (integral t Ht). pose proof (exp_ineq1_le (alpha t)). lra.
Qed.

End Speeds.
