(* The emergence times with the exact constants, for every N >= 2 (Theorem 2, Eq. 10 and 11).

   With A(x) the integral of e^(-u^2/2) from 0 to x:
     N ln 2 - 1/(3N)     <= T_gamma <= N ln 2,
     2 A(1/2) N^2 + N/2  <= T_beta  <= 2 A(1/2) N^2 + 11/10 N,
     2 A(1) N^2          <= T_alpha <= 2 A(1) N^2 + 11/4 N. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Arithmetic Calculus Model Flow Speeds Order Gauss Clock Race.
Open Scope R_scope.

Section Times.

Variables (N : R) (alpha beta gamma : R -> R).
Hypothesis at_least_two : 2 <= N.
Hypothesis flow : follows_the_flow N alpha beta gamma.

Lemma gauss_is_below_its_tangent z : 0 <= z -> gauss (1 + z) <= gauss 1 + 6066 / 10000 * z.
Proof.
  intros Hz.
  assert (H : 6066 / 10000 * 0 - gauss (1 + 0) <= 6066 / 10000 * z - gauss (1 + z)).
  { apply (grows_where_the_speed_is_not_negative (fun u => 6066 / 10000 * u - gauss (1 + u))
      (fun u => 6066 / 10000 - exp (- (1 + u) ^ 2 / 2))); [|lra|].
    - intros u _. pose proof (gauss_by_x (1 + u)) as D. set (e := exp (- (1 + u) ^ 2 / 2)) in *.
      clearbody e. auto_derive; [eexists; eassumption|].
      rewrite (derivative_is _ _ _ D). ring.
    - intros u Hu. assert (exp (- (1 + u) ^ 2 / 2) <= exp (- (1 / 2))) by (apply exponential_grows; nra).
      assert (exp (- (1 / 2)) <= 6066 / 10000) by by_enclosure. lra. }
  rewrite Rplus_0_r in H. lra.
Qed.

Lemma gauss_grows a b : 0 <= a <= b -> gauss a <= gauss b.
Proof.
  intros H. apply (grows_where_the_speed_is_not_negative gauss (fun u => exp (- u ^ 2 / 2))); [|lra|].
  - intros u _. apply gauss_by_x.
  - intros u _. left. apply exp_pos.
Qed.

Lemma time_without_delay t : 0 <= t -> t - N <= clock N t.
Proof. intros Ht. unfold clock. destruct (start_is_fast N at_least_two t Ht). nra. Qed.

(* As long as alpha has not emerged the time is at most 2 A(1) N^2 + 11/4 N. *)
Lemma alpha_cannot_wait t : 0 <= t -> alpha t <= 1 / 2 -> t <= 2 * gauss 1 * N ^ 2 + 11 / 4 * N.
Proof.
  intros Ht Ha.
  pose proof (beta_keeps_up N alpha beta gamma at_least_two flow t Ht Ha) as K.
  pose proof (time_without_delay t Ht) as D.
  pose proof (first_integral N alpha beta gamma at_least_two flow t Ht) as I.
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow t Ht) as [Ha0 Hb0].
  assert (HA : exp (alpha t) <= 16488 / 10000)
    by (apply Rle_trans with (exp (1 / 2)); [apply exponential_grows, Ha|by_enclosure]).
  set (z := 3244 / 10000 / (N - 1)).
  assert (Hz : 0 < z) by (unfold z; apply Rdiv_lt_0_compat; lra).
  assert (Hz1 : (N - 1) * z = 3244 / 10000) by (unfold z; field; lra).
  assert (Hb : beta t <= 1 + z).
  { assert (Hb2 : beta t ^ 2 <= 1 + 2 * z) by (apply Rmult_le_reg_l with (N - 1); [lra|]; nra).
    apply Rnot_lt_le. intros Hlt. nra. }
  pose proof gauss_at_1 as [G1 G2]. pose proof (gauss_is_below_its_tangent z ltac:(lra)) as Gz.
  pose proof (gauss_grows (beta t) (1 + z) ltac:(lra)) as Gb.
  assert (U : upper N (beta t) <= (9 / 4 * (1 + z) + (2 * N - 13 / 4) * (gauss 1 + 6066 / 10000 * z)) / (2 * N - 1)).
  { unfold upper. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
    apply Rplus_le_compat; [lra|]. apply Rmult_le_compat_l; lra. }
  set (V := 9 / 4 * (1 + z) + (2 * N - 13 / 4) * (gauss 1 + 6066 / 10000 * z)) in *.
  (* V = (2N - 1) A(1) + 9/4 (1 - A(1)) + 9/4 z + 2 (N - 1) z .6066 - 5/4 z .6066 *)
  assert (HV : V <= (2 * N - 1) * gauss 1 + 3249 / 10000 + 3937 / 10000 + 1492 / 1000 * z).
  { unfold V. assert ((2 * N - 13 / 4) * z = 2 * (3244 / 10000) - 5 / 4 * z) by lra. nra. }
  assert (HVN : 2 * N * (V - (2 * N - 1) * gauss 1) <= 7 / 4 * (2 * N - 1)).
  { apply Rle_trans with (2 * N * (7186 / 10000 + 1492 / 1000 * z)); [apply Rmult_le_compat_l; lra|].
    assert (z <= 3244 / 10000) by nra. assert (N * z <= 6488 / 10000) by nra. nra. }
  assert (F : 2 * N ^ 2 * upper N (beta t) <= 2 * gauss 1 * N ^ 2 + 7 / 4 * N).
  { apply Rle_trans with (2 * N ^ 2 * (V / (2 * N - 1))); [apply Rmult_le_compat_l; [nra|exact U]|].
    replace (2 * N ^ 2 * (V / (2 * N - 1)))
      with (2 * gauss 1 * N ^ 2 + N * (2 * N * (V - (2 * N - 1) * gauss 1)) / (2 * N - 1)) by (field; lra).
    apply Rplus_le_compat_l. apply Rle_div_l; [lra|]. nra. }
  lra.
Qed.

(* alpha emerges, and not later than 2 A(1) N^2 + 11/4 N. *)
Theorem alpha_emerges : exists T, emerges_at alpha T /\ T <= 2 * gauss 1 * N ^ 2 + 11 / 4 * N.
Proof.
  set (b := 2 * gauss 1 * N ^ 2 + 11 / 4 * N + 1).
  assert (Hb : 0 < b) by (pose proof gauss_at_1; unfold b; nra).
  assert (Hab : 1 / 2 <= alpha b).
  { apply Rnot_lt_le. intros H. pose proof (alpha_cannot_wait b). unfold b in *. lra. }
  destruct (first_time_at_a_level alpha _ (1 / 2) b
    (speed_of_alpha N alpha beta gamma at_least_two flow)) as [T [HT [E B]]]; try lra.
  - destruct flow as (A0 & _). lra.
  - exists T. split; [repeat split; try lra; exact B|].
    apply alpha_cannot_wait; lra.
Qed.

Lemma beta_passes level T : 0 < level <= 1 -> emerges_at alpha T ->
  exists U, 0 < U < T /\ beta U = level /\ forall u, 0 <= u < U -> beta u < level.
Proof.
  intros Hl (HT & E & _).
  pose proof (alpha_from_above N alpha beta gamma at_least_two flow T HT) as H. rewrite E in H.
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow T HT) as [_ Hb].
  assert (Hb1 : 1 < beta T).
  { apply Rnot_le_lt. intros Hle. assert (beta T ^ 2 <= 1) by nra. nra. }
  destruct (first_time_at_a_level beta _ level T
    (speed_of_beta N alpha beta gamma at_least_two flow)) as [U [HU [EU BU]]]; try lra.
  - destruct flow as (_ & B0 & _). lra.
  - exists U. split; [|split; [exact EU|exact BU]].
    destruct (Req_dec U T) as [->|]; lra.
Qed.

(* T_alpha >= 2 A(1) N^2: beta = 1 comes first, and not before 2 A(1) N^2. *)
Theorem alpha_time_from_below (T : R) : emerges_at alpha T -> 2 * gauss 1 * N ^ 2 <= T.
Proof.
  intros HT. destruct (beta_passes 1 T ltac:(lra) HT) as [U [HU [E _]]].
  pose proof (beta_does_not_outrun N alpha beta gamma at_least_two flow U ltac:(lra) ltac:(lra)) as K.
  rewrite E in K. pose proof gauss_at_1 as [G _].
  assert (He : 6065 / 10000 <= exp (- 1 ^ 2 / 2)) by by_enclosure.
  replace (2 * N ^ 2 * (gauss 1 - 23 / 20 / N * (1 - exp (- 1 ^ 2 / 2))))
    with (2 * gauss 1 * N ^ 2 - 23 / 10 * N * (1 - exp (- 1 ^ 2 / 2))) in K by (field; lra).
  assert (K2 : 2 * gauss 1 * N ^ 2 - 9051 / 10000 * N <= clock N U).
  { assert (N * (1 - exp (- 1 ^ 2 / 2)) <= N * (3935 / 10000)) by (apply Rmult_le_compat_l; lra). lra. }
  unfold clock in K2.
  destruct (start_is_fast N at_least_two U ltac:(lra)) as [Hd _].
  assert (HU2 : 25 / 10 * N <= U).
  { assert (8556 / 10000 * 2 <= gauss 1 * N) by (apply Rmult_le_compat; lra).
    assert (34224 / 10000 * N <= 2 * gauss 1 * N * N) by (apply Rmult_le_compat_r; lra).
    assert (0 <= N * (1 - exp (- U / N))) by (apply Rmult_le_pos; lra). lra. }
  assert (Hlate : exp (- U / N) <= 821 / 10000).
  { apply Rle_trans with (exp (- (25 / 10))); [|by_enclosure].
    apply exponential_grows. replace (- U / N) with (- (U / N)) by (field; lra).
    apply Ropp_le_contravar, (Rle_div_r _ U N); lra. }
  assert (N * (9179 / 10000) <= N * (1 - exp (- U / N))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* beta emerges between 2 A(1/2) N^2 + N/2 and 2 A(1/2) N^2 + 11/10 N. *)
Theorem beta_emerges : exists T, emerges_at beta T /\
  2 * gauss (1 / 2) * N ^ 2 + N / 2 <= T <= 2 * gauss (1 / 2) * N ^ 2 + 11 / 10 * N.
Proof.
  destruct alpha_emerges as [T [HT _]].
  destruct (beta_passes (1 / 2) T ltac:(lra) HT) as [U [HU [E B]]].
  exists U. split; [repeat split; try lra; exact B|].
  pose proof gauss_at_half as [G _]. split.
  - pose proof (beta_does_not_outrun N alpha beta gamma at_least_two flow U ltac:(lra) ltac:(lra)) as K.
    rewrite E in K.
    assert (He : 8824 / 10000 <= exp (- (1 / 2) ^ 2 / 2)) by by_enclosure.
    replace (2 * N ^ 2 * (gauss (1 / 2) - 23 / 20 / N * (1 - exp (- (1 / 2) ^ 2 / 2))))
      with (2 * gauss (1 / 2) * N ^ 2 - 23 / 10 * N * (1 - exp (- (1 / 2) ^ 2 / 2))) in K by (field; lra).
    assert (K2 : 2 * gauss (1 / 2) * N ^ 2 - 2705 / 10000 * N <= clock N U).
    { assert (N * (1 - exp (- (1 / 2) ^ 2 / 2)) <= N * (1176 / 10000)) by (apply Rmult_le_compat_l; lra). lra. }
    unfold clock in K2.
    destruct (start_is_fast N at_least_two U ltac:(lra)) as [Hd _].
    assert (HU2 : 16 / 10 * N <= U).
    { assert (4799 / 10000 * 2 <= gauss (1 / 2) * N) by (apply Rmult_le_compat; lra).
      assert (19196 / 10000 * N <= 2 * gauss (1 / 2) * N * N) by (apply Rmult_le_compat_r; lra).
      assert (0 <= N * (1 - exp (- U / N))) by (apply Rmult_le_pos; lra). lra. }
    assert (Hlate : exp (- U / N) <= 202 / 1000).
    { apply Rle_trans with (exp (- (16 / 10))); [|by_enclosure].
      apply exponential_grows. replace (- U / N) with (- (U / N)) by (field; lra).
      apply Ropp_le_contravar, (Rle_div_r _ U N); lra. }
    assert (N * (798 / 1000) <= N * (1 - exp (- U / N))) by (apply Rmult_le_compat_l; lra). lra.
  - destruct HT as (HT & ET & BT).
    pose proof (beta_keeps_up N alpha beta gamma at_least_two flow U ltac:(lra)) as K.
    specialize (BT U). pose proof (time_without_delay U ltac:(lra)) as D.
    rewrite E in K. unfold upper in K.
    replace (2 * N ^ 2 * ((9 / 4 * (1 / 2) + (2 * N - 13 / 4) * gauss (1 / 2)) / (2 * N - 1)))
      with (2 * gauss (1 / 2) * N ^ 2 + 2 * N ^ 2 * (9 / 8 - 9 / 4 * gauss (1 / 2)) / (2 * N - 1)) in K by (field; lra).
    assert (2 * N ^ 2 * (9 / 8 - 9 / 4 * gauss (1 / 2)) / (2 * N - 1) <= 1 / 10 * N)
      by (apply Rle_div_l; nra).
    assert (alpha U <= 1 / 2) by lra. lra.
Qed.

(* gamma does not emerge before N ln 2 - 1/(3N). *)
Theorem gamma_time_from_below (T : R) : emerges_at gamma T -> N * ln 2 - 1 / (3 * N) <= T.
Proof.
  intros HT. destruct beta_emerges as [U [HU _]].
  pose proof (gamma_before_beta N alpha beta gamma at_least_two flow T U HT HU) as HTU.
  destruct (gamma_emerges N alpha beta gamma at_least_two flow) as [T' [HT' [_ Hln]]].
  rewrite (emerges_once _ _ _ HT' HT) in Hln. clear T' HT'.
  destruct HT as (HT0 & ET & BT). destruct HU as (_ & _ & BU).
  pose proof (beta_is_slow_until N alpha beta gamma at_least_two flow T HT0) as Hslow.
  assert (Hl : ln 2 <= 7 / 10) by by_enclosure.
  assert (Hb : beta T <= 49 / 100 / (2 * N - 1)).
  { apply Rle_trans with (7 / 10 / (N * (2 * N - 1)) * T).
    - apply Hslow. intros u Hu. specialize (BT u). specialize (BU u). lra.
    - replace (49 / 100 / (2 * N - 1)) with (7 / 10 / (N * (2 * N - 1)) * (7 / 10 * N)) by (field; lra).
      apply Rmult_le_compat_l; [apply Rdiv_le_0_compat; nra|nra]. }
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow T HT0) as [Ha0 Hb0].
  assert (Hb1 : beta T < 1 / 2) by (apply BU; lra).
  pose proof (alpha_from_above N alpha beta gamma at_least_two flow T HT0) as Ha.
  assert (Ha8 : alpha T <= 1 / 8).
  { assert (beta T ^ 2 <= 1 / 4) by nra. apply Rmult_le_reg_l with (2 * N - 1); [lra|]. nra. }
  assert (HA : exp (alpha T) <= 114 / 100)
    by (apply Rle_trans with (exp (1 / 8)); [apply exponential_grows, Ha8|by_enclosure]).
  assert (HA1 : 1 <= exp (alpha T)) by (pose proof (exp_ineq1_le (alpha T)); lra).
  assert (Hg : retrieval N (alpha T) <= 114 / 100 / (2 * N - 1)).
  { unfold retrieval, Rdiv. apply Rmult_le_compat; try lra.
    - left. apply Rinv_0_lt_compat. lra.
    - apply Rinv_le_contravar; lra. }
  destruct (attention_is_between_0_and_1 N alpha beta at_least_two T) as (_ & _ & _ & Hg0).
  set (x := beta T * retrieval N (alpha T)).
  assert (Hx : x <= 1 / (3 * N ^ 2)).
  { apply Rle_trans with (49 / 100 / (2 * N - 1) * (114 / 100 / (2 * N - 1))).
    - apply Rmult_le_compat; lra.
    - apply (Rle_div_r _ 1 (3 * N ^ 2)); [nra|].
      replace (49 / 100 / (2 * N - 1) * (114 / 100 / (2 * N - 1)) * (3 * N ^ 2))
        with (16758 / 10000 * N ^ 2 / (2 * N - 1) ^ 2) by (field; lra).
      apply (Rle_div_l _ _ ((2 * N - 1) ^ 2)); [apply pow_lt; lra|].
      assert (0 <= (N - 2) * (N - 2)) by nra. nra. }
  pose proof (gamma_from_above N alpha beta gamma at_least_two flow T HT0) as Hup.
  rewrite ET in Hup. unfold signal in Hup. fold x in Hup.
  pose proof (exp_pos (- T / N)) as He. pose proof (exp_pos x) as Hx0.
  (* e^(-T/N) <= e^x / 2 *)
  assert (Hhalf : exp (- T / N) <= exp x / 2).
  { apply Rmult_le_reg_l with (exp x); [assumption|].
    pose proof (pow2_ge_0 (exp x - 1)). lra. }
  apply ln_le in Hhalf; [|assumption].
  rewrite ln_exp in Hhalf. unfold Rdiv in Hhalf at 2.
  rewrite ln_mult, ln_exp, ln_Rinv in Hhalf by lra.
  assert (Hfin : N * (ln 2 - x) <= T).
  { apply Rmult_le_reg_r with (/ N); [apply Rinv_0_lt_compat; lra|].
    replace (N * (ln 2 - x) * / N) with (ln 2 - x) by (field; lra).
    unfold Rdiv in Hhalf. lra. }
  assert (N * x <= 1 / (3 * N)).
  { apply Rle_trans with (N * (1 / (3 * N ^ 2))); [apply Rmult_le_compat_l; lra|right; field; lra]. }
  lra.
Qed.

(* All three together: along any flow the three emerge, in this order, at these times. *)
Lemma times_along_the_flow : exists T_gamma T_beta T_alpha,
  emerges_at gamma T_gamma /\ emerges_at beta T_beta /\ emerges_at alpha T_alpha /\
  T_gamma < T_beta < T_alpha /\
  N * ln 2 - 1 / (3 * N) <= T_gamma <= N * ln 2 /\
  2 * gauss (1 / 2) * N ^ 2 + N / 2 <= T_beta <= 2 * gauss (1 / 2) * N ^ 2 + 11 / 10 * N /\
  2 * gauss 1 * N ^ 2 <= T_alpha <= 2 * gauss 1 * N ^ 2 + 11 / 4 * N.
Proof.
  destruct (gamma_emerges N alpha beta gamma at_least_two flow) as [Tc [Hc [_ Hcu]]].
  destruct beta_emerges as [Tb [Hb Hbb]]. destruct alpha_emerges as [Ta [Ha Hau]].
  exists Tc, Tb, Ta.
  pose proof (order_of_emergence N alpha beta gamma at_least_two flow Tc Tb Ta Hc Hb Ha).
  pose proof (gamma_time_from_below Tc Hc). pose proof (alpha_time_from_below Ta Ha).
  repeat split; try lra; first [apply Hc|apply Hb|apply Ha].
Qed.

(* In plain numbers: T_alpha lies between 1.71 N^2 and 3.1 N^2. *)
Theorem alpha_time_in_numbers (T : R) : emerges_at alpha T -> 171 / 100 * N ^ 2 <= T <= 31 / 10 * N ^ 2.
Proof.
  intros HT. pose proof (alpha_time_from_below T HT).
  destruct alpha_emerges as [T' [HT' Hu]]. rewrite (emerges_once _ _ _ HT' HT) in Hu.
  pose proof gauss_at_1. split; nra.
Qed.

End Times.
