(* A solution exists, and only one: Picard's iteration for bounded Lipschitz speeds.

   A state has any set [I] of coordinates; the speed of each depends on time and state. Nothing here
   knows of the network. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Calculus.
Open Scope R_scope.

(* A function goes no further than one that is at least as fast. *)
Lemma slower_goes_less_far f h v w t :
  moves f v -> moves h w -> 0 <= t -> (forall u, 0 <= u <= t -> Rabs (v u) <= w u) ->
  Rabs (f t - f 0) <= h t - h 0.
Proof.
  intros Hf Hh Ht Hvw.
  assert (H1 : h 0 - f 0 <= h t - f t).
  { apply (grows_where_the_speed_is_not_negative (fun u => h u - f u) (fun u => w u - v u)); [|lra|].
    - intros u Hu. apply (is_derive_minus h f); [apply Hh, Hu|apply Hf, Hu].
    - intros u Hu. pose proof (Hvw u ltac:(lra)). pose proof (Rle_abs (v u)). lra. }
  assert (H2 : h 0 + f 0 <= h t + f t).
  { apply (grows_where_the_speed_is_not_negative (fun u => h u + f u) (fun u => w u + v u)); [|lra|].
    - intros u Hu. apply (is_derive_plus h f); [apply Hh, Hu|apply Hf, Hu].
    - intros u Hu. pose proof (Hvw u ltac:(lra)). pose proof (Rle_abs (- v u)).
      rewrite Rabs_Ropp in *. lra. }
  apply Rabs_le. lra.
Qed.

Lemma halved_for_ever z C : (forall n, Rabs z <= C * (1 / 2) ^ n) -> z = 0.
Proof.
  intros H. destruct (Req_dec z 0) as [|Hz]; [assumption|exfalso].
  apply Rabs_pos_lt in Hz.
  assert (HC : 0 < C) by (specialize (H 0%nat); simpl in H; lra).
  destruct (pow_lt_1_zero (1 / 2) ltac:(rewrite Rabs_right; lra) (Rabs z / C)) as [n Hn].
  - apply Rdiv_lt_0_compat; lra.
  - specialize (Hn n (le_n n)). specialize (H n).
    rewrite Rabs_right in Hn by (apply Rle_ge, pow_le; lra).
    apply (Rmult_lt_compat_l C) in Hn; [|exact HC].
    replace (C * (Rabs z / C)) with (Rabs z) in Hn by (field; lra). lra.
Qed.

(* Until [T] the speed is at most [L], and [L]-Lipschitz in time and state together. *)
Definition bounded_lipschitz {I : Type} (T L : R) (speed : R -> (I -> R) -> R) : Prop :=
  (forall t x, 0 <= t <= T -> Rabs (speed t x) <= L) /\
  (forall t u x y d, 0 <= t <= T -> 0 <= u <= T ->
     Rabs (t - u) <= d -> (forall i, Rabs (x i - y i) <= d) ->
     Rabs (speed t x - speed u y) <= L * d).

Section Picard.

Variable I : Type.
Variable speed : I -> R -> (I -> R) -> R.
Hypothesis all_bounded_lipschitz :
  forall T, 0 <= T -> exists L, 0 < L /\ forall i, bounded_lipschitz T L (speed i).

Notation at_time x t := (fun i => x i t).
(* the speed at time |s|, so that it is continuous at 0 from both sides *)
Notation along x i := (fun s : R => speed i (Rabs s) (at_time x (Rabs s))).
Notation obeys x := (forall i, moves (x i) (fun t => speed i t (at_time x t))).

Let step (x : I -> R -> R) (i : I) (t : R) : R := RInt (along x i) 0 t.
Let steady (x : I -> R -> R) : Prop := forall T, 0 <= T -> exists B, 0 <= B /\
  forall i t u, 0 <= t <= T -> 0 <= u <= T -> Rabs (x i t - x i u) <= B * Rabs (t - u).

Lemma the_speed_along_is_continuous x i s : steady x -> continuous (along x i) s.
Proof.
  intros Hx. apply continuity_pt_filterlim. intros eps Heps.
  pose proof (Rabs_pos s) as Hs.
  destruct (Hx (Rabs s + 1)) as [B [HB HxB]]; [lra|].
  destruct (all_bounded_lipschitz (Rabs s + 1)) as [L [HL Hi]]; [lra|]. destruct (Hi i) as [_ Hlip].
  set (K := L * (B + 1)). assert (HK : 0 < K) by (apply Rmult_lt_0_compat; lra).
  exists (Rmin 1 (eps / K)). split.
  - apply Rmin_glb_lt; [lra|]. apply Rdiv_lt_0_compat; lra.
  - intros u [_ Hu]. simpl in Hu |- *. unfold R_dist in *.
    pose proof (Rmin_l 1 (eps / K)). pose proof (Rmin_r 1 (eps / K)).
    pose proof (Rabs_triang_inv2 u s) as Hus. pose proof (Rabs_pos u).
    assert (HuT : Rabs u <= Rabs s + 1) by (pose proof (Rle_abs (Rabs u - Rabs s)); lra).
    apply Rle_lt_trans with (L * ((B + 1) * Rabs (u - s))).
    + apply Hlip; try lra.
      * pose proof (Rabs_pos (u - s)). nra.
      * intros j. apply Rle_trans with (B * Rabs (Rabs u - Rabs s)); [apply HxB; lra|].
        pose proof (Rabs_pos (u - s)). nra.
    + replace (L * ((B + 1) * Rabs (u - s))) with (K * Rabs (u - s)) by (unfold K; ring).
      replace eps with (K * (eps / K)) by (field; lra). apply Rmult_lt_compat_l; lra.
Qed.

Lemma step_has_the_speed x i t : steady x -> is_derive (step x i) t (along x i t).
Proof.
  intros Hx. apply (is_derive_RInt (along x i) _ 0 t).
  - apply filter_forall. intros y. apply (@RInt_correct R_CompleteNormedModule), ex_RInt_continuous.
    intros z _. apply the_speed_along_is_continuous, Hx.
  - apply the_speed_along_is_continuous, Hx.
Qed.

Lemma step_moves x i : steady x -> moves (step x i) (fun t => speed i t (at_time x t)).
Proof.
  intros Hx t Ht. pose proof (step_has_the_speed x i t Hx) as D. cbv beta in D.
  rewrite (Rabs_right t) in D by lra. exact D.
Qed.

Lemma step_from_zero x i : step x i 0 = 0.
Proof. exact (RInt_point 0 (along x i)). Qed.

Lemma step_is_slow x T L : steady x -> (forall i, bounded_lipschitz T L (speed i)) ->
  forall i t u, 0 <= t <= T -> 0 <= u <= T -> Rabs (step x i t - step x i u) <= L * Rabs (t - u).
Proof.
  intros Hx HL i t u Ht Hu.
  destruct (MVT_gen (step x i) u t (along x i)) as [c [Hc E]].
  - intros z _. apply step_has_the_speed, Hx.
  - intros z _. apply continuity_pt_filterlim, (@ex_derive_continuous R_AbsRing R_NormedModule).
    eexists. apply step_has_the_speed, Hx.
  - rewrite E, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
    apply HL. assert (0 <= Rmin u t) by (apply Rmin_glb; lra).
    assert (Rmax u t <= T) by (apply Rmax_lub; lra). rewrite Rabs_right; lra.
Qed.

Lemma step_is_steady x : steady x -> steady (step x).
Proof.
  intros Hx T HT. destruct (all_bounded_lipschitz T HT) as [L [HL Hi]].
  exists L. split; [lra|]. apply step_is_slow; assumption.
Qed.

Fixpoint iterate (n : nat) : I -> R -> R :=
  match n with
  | O => fun _ _ => 0
  | S m => step (iterate m)
  end.

Lemma iterates_are_steady n : steady (iterate n).
Proof.
  induction n as [|n IH].
  - intros T _. exists 0. split; [lra|]. intros. simpl. rewrite Rminus_0_r, Rabs_R0. lra.
  - apply step_is_steady, IH.
Qed.

Section UntilT.

Variables T L : R.
Hypothesis not_negative : 0 <= T.
Hypothesis positive : 0 < L.
Hypothesis lipschitz_until : forall i, bounded_lipschitz T L (speed i).

Notation envelope := (fun t => exp (2 * L * t)).

Lemma envelope_moves C : moves (fun t => C * envelope t) (fun t => C * (2 * L * envelope t)).
Proof. intros t _. auto_derive; [trivial|]. ring. Qed.

Lemma bounded_until t x i : 0 <= t <= T -> Rabs (speed i t x) <= L * envelope t.
Proof.
  intros Ht. apply Rle_trans with L; [apply (lipschitz_until i); lra|].
  assert (0 <= 2 * L * t) by (apply Rmult_le_pos; lra).
  pose proof (exp_ineq1_le (2 * L * t)). nra.
Qed.

(* The step halves the distance of two curves, measured by the envelope. *)
Lemma step_halves f g x y i C t :
  moves f (fun t => speed i t (at_time x t)) -> moves g (fun t => speed i t (at_time y t)) ->
  f 0 = g 0 -> (forall j u, 0 <= u <= T -> Rabs (x j u - y j u) <= C * envelope u) ->
  0 <= t <= T -> Rabs (f t - g t) <= C * (1 / 2) * envelope t.
Proof.
  intros Hf Hg E Hxy Ht.
  assert (H : Rabs (f t - g t - (f 0 - g 0)) <= C * (1 / 2) * envelope t - C * (1 / 2) * envelope 0).
  { apply (slower_goes_less_far (fun u => f u - g u) (fun u => C * (1 / 2) * envelope u)
      (fun u => speed i u (at_time x u) - speed i u (at_time y u))
      (fun u => C * (1 / 2) * (2 * L * envelope u))); [|apply envelope_moves|lra|].
    - intros u Hu. apply (is_derive_minus f g); [apply Hf, Hu|apply Hg, Hu].
    - intros u Hu.
      replace (C * (1 / 2) * (2 * L * envelope u)) with (L * (C * envelope u)) by field.
      apply (lipschitz_until i); try lra.
      + rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
        pose proof (Hxy i u ltac:(lra)). pose proof (Rabs_pos (x i u - y i u)). lra.
      + intros j. apply Hxy. lra. }
  assert (H0 : 0 <= C * (1 / 2) * envelope 0).
  { pose proof (Hxy i 0 ltac:(lra)). pose proof (Rabs_pos (x i 0 - y i 0)). lra. }
  replace (f t - g t) with (f t - g t - (f 0 - g 0)) by lra. lra.
Qed.

Lemma iterates_approach n i t : 0 <= t <= T ->
  Rabs (iterate (S n) i t - iterate n i t) <= (1 / 2) ^ n * envelope t.
Proof.
  revert i t. induction n as [|n IH]; intros i t Ht.
  - simpl. rewrite Rminus_0_r, Rmult_1_l.
    pose proof (slower_goes_less_far _ _ _ _ t
      (step_moves (iterate 0) i (iterates_are_steady 0)) (envelope_moves 1) (proj1 Ht)) as H.
    rewrite step_from_zero, Rminus_0_r in H. simpl in H.
    assert (He : 0 < envelope 0) by apply exp_pos.
    enough (Rabs (step (fun _ _ => 0) i t) <= 1 * envelope t - 1 * envelope 0) by lra.
    apply H. intros u Hu. pose proof (bounded_until u (fun _ => 0) i ltac:(lra)).
    pose proof (exp_pos (2 * L * u)). nra.
  - replace ((1 / 2) ^ S n) with ((1 / 2) ^ n * (1 / 2)) by (simpl; ring).
    apply (step_halves _ _ (iterate (S n)) (iterate n) i).
    + apply step_moves, (iterates_are_steady (S n)).
    + apply step_moves, iterates_are_steady.
    + simpl. rewrite !step_from_zero. reflexivity.
    + intros j u Hu. apply IH, Hu.
    + exact Ht.
Qed.

Lemma iterates_stay_near n k i t : 0 <= t <= T ->
  Rabs (iterate (n + k) i t - iterate n i t) <= (2 * (1 / 2) ^ n - 2 * (1 / 2) ^ (n + k)) * envelope t.
Proof.
  intros Ht. induction k as [|k IH].
  - rewrite Nat.add_0_r. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - rewrite Nat.add_succ_r. pose proof (iterates_approach (n + k) i t Ht) as H.
    replace (iterate (S (n + k)) i t - iterate n i t)
      with (iterate (S (n + k)) i t - iterate (n + k) i t + (iterate (n + k) i t - iterate n i t)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). simpl pow.
    set (e := envelope t) in *. set (a := (1 / 2) ^ (n + k)) in *. lra.
Qed.

Lemma iterates_are_near n m i t : 0 <= t <= T -> (n <= m)%nat ->
  Rabs (iterate m i t - iterate n i t) <= 2 * envelope t * (1 / 2) ^ n.
Proof.
  intros Ht Hnm. replace m with (n + (m - n))%nat by (rewrite Nat.add_comm; now apply Nat.sub_add).
  apply Rle_trans with (1 := iterates_stay_near n _ i t Ht).
  assert (0 <= (1 / 2) ^ (n + (m - n))) by (apply pow_le; lra).
  pose proof (exp_pos (2 * L * t)). nra.
Qed.

End UntilT.

(* What the iterates tend to. *)
Let limit (i : I) (t : R) : R := real (Lim_seq (fun n => iterate n i t)).

Lemma iterates_converge i t : 0 <= t -> is_lim_seq (fun n => iterate n i t) (limit i t).
Proof.
  intros Ht. apply Lim_seq_correct', ex_lim_seq_cauchy_corr. intros eps.
  destruct (all_bounded_lipschitz t Ht) as [L [HL Hi]].
  set (C := 2 * exp (2 * L * t)).
  assert (HC : 0 < C) by (unfold C; pose proof (exp_pos (2 * L * t)); lra).
  pose proof (cond_pos eps) as He.
  destruct (pow_lt_1_zero (1 / 2) ltac:(rewrite Rabs_right; lra) (eps / C)) as [n Hn];
    [apply Rdiv_lt_0_compat; lra|].
  exists n. intros a b Ha Hb.
  assert (near : forall a b, (n <= a)%nat -> (a <= b)%nat -> Rabs (iterate b i t - iterate a i t) < eps).
  { intros p q Hp Hq.
    apply Rle_lt_trans with (1 := iterates_are_near t L Ht HL Hi p q i t (conj Ht (Rle_refl t)) Hq).
    specialize (Hn p Hp). rewrite Rabs_right in Hn by (apply Rle_ge, pow_le; lra).
    replace (pos eps) with (C * (eps / C)) by (field; lra). apply Rmult_lt_compat_l; assumption. }
  destruct (Nat.le_ge_cases a b) as [H|H].
  - rewrite Rabs_minus_sym. apply near; assumption.
  - apply near; assumption.
Qed.

Lemma limit_is_near L n i t : 0 <= t -> 0 < L -> (forall i, bounded_lipschitz t L (speed i)) ->
  Rabs (limit i t - iterate n i t) <= 2 * exp (2 * L * t) * (1 / 2) ^ n.
Proof.
  intros Ht HL Hi.
  apply (is_lim_seq_le_loc (fun m => Rabs (iterate m i t - iterate n i t))
    (fun _ => 2 * exp (2 * L * t) * (1 / 2) ^ n)
    (Rabs (limit i t - iterate n i t)) (2 * exp (2 * L * t) * (1 / 2) ^ n)).
  - exists n. intros m Hm. apply (iterates_are_near t L Ht HL Hi); [lra|exact Hm].
  - apply (is_lim_seq_abs _ (limit i t - iterate n i t)), is_lim_seq_minus';
      [apply iterates_converge, Ht|apply is_lim_seq_const].
  - apply is_lim_seq_const.
Qed.

Lemma limit_is_steady : steady limit.
Proof.
  intros T HT. destruct (all_bounded_lipschitz T HT) as [L [HL Hi]].
  exists L. split; [lra|]. intros i t u Ht Hu.
  apply (is_lim_seq_le (fun n => Rabs (iterate n i t - iterate n i u)) (fun _ => L * Rabs (t - u))
    (Rabs (limit i t - limit i u)) (L * Rabs (t - u))).
  - intros [|n].
    + simpl. rewrite Rminus_0_r, Rabs_R0. pose proof (Rabs_pos (t - u)). nra.
    + apply (step_is_slow (iterate n) T L); try assumption. apply iterates_are_steady.
  - apply (is_lim_seq_abs _ (limit i t - limit i u)), is_lim_seq_minus'; apply iterates_converge; lra.
  - apply is_lim_seq_const.
Qed.

Lemma limit_is_fixed i t : 0 <= t -> step limit i t = limit i t.
Proof.
  intros Ht. destruct (all_bounded_lipschitz t Ht) as [L [HL Hi]].
  apply Rminus_diag_uniq, (halved_for_ever _ (2 * exp (2 * L * t))). intros n.
  replace (step limit i t - limit i t)
    with (step limit i t - iterate (S n) i t - (limit i t - iterate (S n) i t)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp.
  pose proof (limit_is_near L (S n) i t Ht HL Hi) as H. simpl pow in H.
  assert (H2 : Rabs (step limit i t - iterate (S n) i t) <= 2 * (1 / 2) ^ n * (1 / 2) * exp (2 * L * t)).
  { apply (step_halves t L Ht Hi _ _ limit (iterate n) i).
    - apply step_moves, limit_is_steady.
    - apply (step_moves (iterate n)), iterates_are_steady.
    - simpl. rewrite !step_from_zero. reflexivity.
    - intros j u Hu. assert (Hu' : forall i, bounded_lipschitz u L (speed i)).
      { intros k. destruct (Hi k) as [Hb Hl]. split.
        - intros v x Hv. apply Hb. lra.
        - intros v w x y d Hv Hw. apply Hl; lra. }
      pose proof (limit_is_near L n j u (proj1 Hu) HL Hu'). lra.
    - lra. }
  set (e := exp (2 * L * t)) in *. set (a := (1 / 2) ^ n) in *. nra.
Qed.

(* Picard-Lindelof, from zero and for all times. *)
Lemma a_solution_exists : exists x : I -> R -> R, (forall i, x i 0 = 0) /\ obeys x.
Proof.
  exists (step limit). split; [intros i; apply step_from_zero|].
  intros i t Ht. pose proof (step_moves limit i limit_is_steady t Ht) as D. cbv beta in D.
  replace (speed i t (at_time (step limit) t)) with (speed i t (at_time limit t)); [exact D|].
  destruct (all_bounded_lipschitz t Ht) as [L [HL Hi]].
  apply Rminus_diag_uniq, (halved_for_ever _ 0). intros n. rewrite Rmult_0_l, <- (Rmult_0_r L).
  apply (Hi i); try lra.
  - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - intros j. rewrite limit_is_fixed, Rminus_diag_eq, Rabs_R0 by trivial. lra.
Qed.

Lemma only_one_solution x y : obeys x -> obeys y -> (forall i, x i 0 = y i 0) ->
  forall i t, 0 <= t -> x i t = y i t.
Proof.
  intros Hx Hy E i t Ht. destruct (all_bounded_lipschitz t Ht) as [L [HL Hi]].
  assert (H : forall n j u, 0 <= u <= t -> Rabs (x j u - y j u) <= (1 / 2) ^ n * exp (2 * L * u)).
  { induction n as [|n IH]; intros j u Hu.
    - pose proof (slower_goes_less_far _ _ _ _ u
        (fun u Hu => is_derive_minus _ _ _ _ _ (Hx j u Hu) (Hy j u Hu))
        (envelope_moves L 1) (proj1 Hu)) as H.
      unfold minus, plus, opp in H; simpl in H.
      replace (x j u - y j u) with (x j u + - y j u - (x j 0 + - y j 0)) by (rewrite E; ring).
      apply Rle_trans with (1 * exp (2 * L * u) - 1 * exp (2 * L * 0));
        [|pose proof (exp_pos (2 * L * 0)); simpl; lra].
      apply H. intros v Hv. apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp.
      pose proof (bounded_until t L HL Hi v (at_time x v) j ltac:(lra)).
      pose proof (bounded_until t L HL Hi v (at_time y v) j ltac:(lra)). lra.
    - replace ((1 / 2) ^ S n) with ((1 / 2) ^ n * (1 / 2)) by (simpl; ring).
      apply (step_halves t L Ht Hi _ _ x y j); try assumption; [apply Hx|apply Hy|apply E]. }
  apply Rminus_diag_uniq, (halved_for_ever _ (exp (2 * L * t))). intros n.
  specialize (H n i t). lra.
Qed.

End Picard.
