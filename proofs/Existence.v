(* The gradient flow from zero exists for all times, and there is one only.

   Its speeds are bounded and Lipschitz once beta and gamma are clamped to bounds that the flow
   keeps by itself: |gamma| <= 2N, hence |beta'| <= v and |beta| <= v t. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Arithmetic Calculus Picard Lipschitz Model Flow.
Open Scope R_scope.

Lemma retrieval_is_lipschitz N a b : 2 <= N -> Rabs (retrieval N a - retrieval N b) <= Rabs (a - b).
Proof.
  intros HN. rewrite <- (Rmult_1_l (Rabs (a - b))).
  apply lipschitz_by_derivative with (fun z => (2 * N - 2) * exp z / (exp z + 2 * N - 2) ^ 2).
  - intros z. apply retrieval_by_alpha, HN.
  - intros z _. pose proof (exp_pos z).
    assert (0 <= (2 * N - 2) * exp z / (exp z + 2 * N - 2) ^ 2 <= 1).
    { split; [apply Rdiv_le_0_compat; nra|]. apply Rle_div_l; nra. }
    rewrite Rabs_right; lra.
Qed.

Lemma retrieval_is_small N a : 2 <= N -> Rabs (retrieval N a) <= 1.
Proof.
  intros HN. destruct (attention_bounds N a 0 HN) as (_ & _ & _ & Hg). rewrite Rabs_right; lra.
Qed.

(* Both layers attend by the same function, layer 2 to one position more. *)
Lemma target_as_retrieval N a b : 2 <= N -> target N a b = retrieval (N + 1 / 2) (b * retrieval N a).
Proof.
  intros HN. unfold target, retrieval at 1, signal. pose proof (exp_pos (b * retrieval N a)).
  f_equal. lra.
Qed.

Lemma other_as_target N a b : 2 <= N -> other N a b = (1 - target N a b) * (1 / (2 * N - 1)).
Proof.
  intros HN. destruct (attention_bounds N a b HN) as (_ & _ & Hs & _).
  replace (1 - target N a b) with ((2 * N - 1) * other N a b) by lra. field. lra.
Qed.

Inductive parameter := Alpha | Beta | Gamma.

Lemma bounded_together (speed : parameter -> R -> (parameter -> R) -> R) :
  (forall i, admissible (speed i)) ->
  forall T, 0 <= T -> exists L, 0 < L /\ forall i, bounded_lipschitz T L (speed i).
Proof.
  intros H T HT. destruct (H Alpha T HT) as [A [HA TA]]. destruct (H Beta T HT) as [B [HB TB]].
  destruct (H Gamma T HT) as [C [HC TC]].
  exists (A + B + C + 1). split; [lra|].
  intros [| |]; [apply (with_a_larger_constant T A)|apply (with_a_larger_constant T B)
    |apply (with_a_larger_constant T C)]; trivial; lra.
Qed.

Section Existence.

Variable N : R.
Hypothesis at_least_two : 2 <= N.

(* The speed of beta is at most this while |gamma| <= 2N. *)
Let fastest : R := 4 * N * (1 + 2 * N).

Notation state := (parameter -> R).
(* the bounds of the clamps, as lines in time *)
Notation clamped_beta t x := (clamp (fastest * t + 0) (x Beta)).
Notation clamped_gamma t x := (clamp (0 * t + 2 * N) (x Gamma)).
Notation g x := (retrieval N (x Alpha)).
Notation p t x := (target N (x Alpha) (clamped_beta t x)).
Notation o t x := (other N (x Alpha) (clamped_beta t x)).
Notation push t x := (speed_of_exponent N (x Alpha) (clamped_beta t x) (clamped_gamma t x)).

Let speed (i : parameter) (t : R) (x : state) : R :=
  match i with
  | Alpha => push t x * g x * (clamped_beta t x * (1 - g x))
  | Beta => push t x * g x
  | Gamma => 2 * p t x - 2 * clamped_gamma t x * (p t x ^ 2 + (2 * N - 1) * o t x ^ 2)
  end.

Lemma fastest_is_positive : 0 < fastest.
Proof. unfold fastest. nra. Qed.

Lemma the_parts_are_admissible :
  admissible (fun t x => clamped_beta t x) /\ admissible (fun t x => clamped_gamma t x) /\
  admissible (fun _ (x : state) => g x) /\
  admissible (fun t x => p t x) /\ admissible (fun t x => o t x).
Proof.
  pose proof fastest_is_positive.
  assert (Hb : admissible (fun t x => clamped_beta t x)) by (apply admissible_clamp; lra).
  assert (Hg : admissible (fun _ (x : state) => g x)).
  { apply (admissible_of_coordinate (retrieval N)); intros;
      [apply retrieval_is_small|apply retrieval_is_lipschitz]; lra. }
  assert (Hp : admissible (fun t x => p t x)).
  { apply (admissible_as _ (fun t x => retrieval (N + 1 / 2) (clamped_beta t x * g x))).
    - intros. apply target_as_retrieval, at_least_two.
    - apply (admissible_through (retrieval (N + 1 / 2)));
        [intros; apply retrieval_is_small; lra|intros; apply retrieval_is_lipschitz; lra|].
      apply admissible_product; assumption. }
  repeat split; try assumption; [apply admissible_clamp; lra|].
  apply (admissible_as _ (fun t x => (1 - p t x) * (1 / (2 * N - 1)))).
  - intros. apply other_as_target, at_least_two.
  - apply (admissible_product (fun t x => 1 - p t x)); [|apply admissible_constant].
    apply (admissible_difference (fun _ _ => 1)); [apply admissible_constant|exact Hp].
Qed.

Lemma every_speed_is_admissible i : admissible (speed i).
Proof.
  destruct the_parts_are_admissible as (Hb & Hc & Hg & Hp & Ho).
  assert (Hpush : admissible (fun t x => push t x))
    by (unfold speed_of_exponent; cbv zeta; by_closure).
  destruct i; unfold speed; by_closure.
Qed.

Lemma speed_of_beta_is_bounded a b c : Rabs c <= 2 * N ->
  Rabs (speed_of_exponent N a b c * retrieval N a) <= fastest.
Proof.
  intros Hc. destruct (attention_bounds N a b at_least_two) as (Hp & Ho & Hs & Hg).
  unfold speed_of_exponent; cbv zeta. set (P := target N a b) in *. set (O := other N a b) in *.
  assert (Hd : Rabs (P - O) <= 1) by (apply Rabs_le; nra).
  assert (H1 : Rabs (1 - c * (P - O)) <= 1 + 2 * N).
  { apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp, Rabs_mult, (Rabs_right 1) by lra.
    pose proof (Rabs_pos c). pose proof (Rabs_pos (P - O)). nra. }
  replace (2 * (1 - P) * P * c * (1 - c * (P - O)) * retrieval N a)
    with (2 * (1 - P) * P * retrieval N a * (c * (1 - c * (P - O)))) by ring.
  rewrite Rabs_mult, (Rabs_mult c).
  assert (Hpg : 0 <= (1 - P) * P * retrieval N a <= 1).
  { assert (0 <= (1 - P) * P <= 1) by nra. split; [apply Rmult_le_pos; lra|nra]. }
  rewrite (Rabs_right (2 * (1 - P) * P * retrieval N a)) by lra.
  unfold fastest. replace (4 * N * (1 + 2 * N)) with (2 * (2 * N * (1 + 2 * N))) by ring.
  apply Rmult_le_compat; [lra| |lra|].
  - apply Rmult_le_pos; apply Rabs_pos.
  - apply Rmult_le_compat; try apply Rabs_pos; assumption.
Qed.

(* gamma stays between -2N and 2N, whatever layer 2 attends to. *)
Lemma gamma_stays_inside (a b c c' : R -> R) t :
  moves c (fun u => 2 * target N (a u) (b u)
    - 2 * c' u * (target N (a u) (b u) ^ 2 + (2 * N - 1) * other N (a u) (b u) ^ 2)) ->
  (forall u, Rabs (c u) <= 2 * N -> c' u = c u) -> c 0 = 0 -> 0 <= t -> Rabs (c t) <= 2 * N.
Proof.
  intros Hm Hin H0 Ht.
  assert (Hn : forall u, 0 < target N (a u) (b u) < 1 /\
    1 / (2 * N) <= target N (a u) (b u) ^ 2 + (2 * N - 1) * other N (a u) (b u) ^ 2).
  { intros u. destruct (attention_bounds N (a u) (b u) at_least_two) as (Hp & Ho & Hs & _).
    split; [exact Hp|]. apply Rle_div_l; [lra|].
    set (P := target N (a u) (b u)) in *. set (O := other N (a u) (b u)) in *.
    assert (0 <= (2 * N - 1) * (P - O) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    assert (Hsquare : (P + (2 * N - 1) * O) ^ 2 = 1) by (rewrite Hs; ring). lra. }
  apply Rabs_le. split.
  - apply Rlt_le, Ropp_lt_cancel. rewrite Ropp_involutive.
    apply (never_crosses_a_wall (fun u => - c u) _ (2 * N) t
      (fun u Hu => is_derive_opp c _ _ (Hm u Hu))); [lra|exact Ht|].
    intros u _ Hu _. destruct (Hn u) as [Hp Hq]. rewrite Hin by (apply Rabs_le; lra).
    replace (c u) with (- (2 * N)) by lra. unfold opp; simpl.
    assert (0 < 1 / (2 * N)) by (apply Rdiv_lt_0_compat; lra). simpl in Hq. nra.
  - apply Rlt_le, (never_crosses_a_wall c _ (2 * N) t Hm); [lra|exact Ht|].
    intros u _ Hu _. destruct (Hn u) as [Hp Hq]. rewrite Hin by (apply Rabs_le; lra). rewrite Hu.
    assert (2 * (2 * N) * (1 / (2 * N)) = 2) by (field; lra).
    set (n := target N (a u) (b u) ^ 2 + (2 * N - 1) * other N (a u) (b u) ^ 2) in *. nra.
Qed.

Lemma beta_stays_inside (a b b' c : R -> R) t :
  moves b (fun u => speed_of_exponent N (a u) (b' u) (c u) * retrieval N (a u)) ->
  (forall u, 0 <= u -> Rabs (c u) <= 2 * N) -> b 0 = 0 -> 0 <= t -> Rabs (b t) <= fastest * t.
Proof.
  intros Hm Hc H0 Ht.
  pose proof (slower_goes_less_far b (fun u => fastest * u) _ (fun _ => fastest) t Hm) as H.
  rewrite H0, Rminus_0_r, Rmult_0_r, Rminus_0_r in H. apply H; [|exact Ht|].
  - intros u _. auto_derive; [trivial|ring].
  - intros u Hu. apply speed_of_beta_is_bounded, Hc. lra.
Qed.

(* While both are inside, clamping them changes nothing. *)
Lemma nothing_is_clamped t (x : state) : Rabs (x Beta) <= fastest * t -> Rabs (x Gamma) <= 2 * N ->
  clamped_beta t x = x Beta /\ clamped_gamma t x = x Gamma.
Proof. intros Hb Hc. split; apply clamp_inside; lra. Qed.

(* The flow from zero exists for all times. *)
Theorem flow_exists : exists alpha beta gamma : R -> R, follows_the_flow N alpha beta gamma.
Proof.
  destruct (a_solution_exists parameter speed (bounded_together speed every_speed_is_admissible))
    as [x [H0 Hx]].
  assert (Hc : forall t, 0 <= t -> Rabs (x Gamma t) <= 2 * N).
  { intros t Ht.
    apply (gamma_stays_inside (x Alpha) (fun u => clamped_beta u (fun i => x i u)) (x Gamma)
      (fun u => clamped_gamma u (fun i => x i u)) t (Hx Gamma)); [|apply H0|exact Ht].
    intros u Hu. apply clamp_inside. lra. }
  assert (Hb : forall t, 0 <= t -> Rabs (x Beta t) <= fastest * t).
  { intros t Ht.
    apply (beta_stays_inside (x Alpha) (x Beta) (fun u => clamped_beta u (fun i => x i u))
      (fun u => clamped_gamma u (fun i => x i u)) t (Hx Beta)); [|apply H0|exact Ht].
    intros u _. pose proof (clamp_is_bounded (0 * u + 2 * N) (x Gamma u) ltac:(lra)). lra. }
  exists (x Alpha), (x Beta), (x Gamma).
  split; [apply H0|]. split; [apply H0|]. split; [apply H0|]. intros t Ht.
  destruct (nothing_is_clamped t (fun i => x i t) (Hb t Ht) (Hc t Ht)) as [Eb Ec].
  pose proof (Hx Alpha t Ht) as Da. pose proof (Hx Beta t Ht) as Db. pose proof (Hx Gamma t Ht) as Dc.
  cbv beta in Da, Db, Dc. unfold speed in Da, Db, Dc. rewrite Eb, ?Ec in Da, Db, Dc.
  rewrite descent_of_alpha, descent_of_beta, descent_of_gamma by exact at_least_two.
  exact (conj Da (conj Db Dc)).
Qed.

Let curve (a b c : R -> R) (i : parameter) : R -> R :=
  match i with Alpha => a | Beta => b | Gamma => c end.

Lemma every_flow_has_the_speeds a b c : follows_the_flow N a b c ->
  forall i, moves (curve a b c i) (fun t => speed i t (fun i => curve a b c i t)).
Proof.
  intros flow. pose proof flow as (_ & B0 & C0 & _).
  assert (Hc : forall t, 0 <= t -> Rabs (c t) <= 2 * N).
  { intros t Ht. apply (gamma_stays_inside a b c c t); trivial. apply speed_of_gamma; assumption. }
  assert (Hb : forall t, 0 <= t -> Rabs (b t) <= fastest * t).
  { intros t Ht. apply (beta_stays_inside a b b c t); trivial. apply (speed_of_beta N a b c); assumption. }
  intros i t Ht.
  destruct (nothing_is_clamped t (fun i => curve a b c i t) (Hb t Ht) (Hc t Ht)) as [Eb Ec].
  destruct i; unfold speed; rewrite Eb, ?Ec.
  - apply (speed_of_alpha N a b c); assumption.
  - apply (speed_of_beta N a b c); assumption.
  - apply (speed_of_gamma N a b c); assumption.
Qed.

(* No other flow starts from zero. *)
Theorem flow_is_unique (alpha beta gamma a b c : R -> R) :
  follows_the_flow N alpha beta gamma -> follows_the_flow N a b c ->
  forall t, 0 <= t -> a t = alpha t /\ b t = beta t /\ c t = gamma t.
Proof.
  intros F G t Ht.
  assert (E : forall i, curve a b c i t = curve alpha beta gamma i t).
  { intros i. apply (only_one_solution parameter speed (bounded_together speed every_speed_is_admissible)
      (curve a b c) (curve alpha beta gamma)); try apply every_flow_has_the_speeds; trivial.
    destruct F as (A0 & B0 & C0 & _). destruct G as (A1 & B1 & C1 & _).
    intros [| |]; simpl; lra. }
  exact (conj (E Alpha) (conj (E Beta) (E Gamma))).
Qed.

End Existence.
