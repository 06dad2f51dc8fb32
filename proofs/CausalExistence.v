(* The flow of the three parameters under the causal mask exists for all times.

   As in Existence.v, beta and gamma are clamped to bounds that the flow keeps by itself:
   |gamma| <= 2N, hence |beta'| <= v and |beta| <= v t. *)

Require Import Arith Lia Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Calculus Sums Picard Lipschitz Causal Model Flow Existence.
From Emergence Require Import CausalFlow Pushes Never.
Open Scope R_scope.

Lemma causal_retrieval_is_lipschitz n a b : 1 <= n ->
  Rabs (causal_retrieval n a - causal_retrieval n b) <= Rabs (a - b).
Proof.
  intros Hn. rewrite <- (Rmult_1_l (Rabs (a - b))).
  apply lipschitz_by_derivative with (fun z => causal_retrieval n z * (1 - causal_retrieval n z)).
  - intros z. apply causal_retrieval_by_alpha, Hn.
  - intros z _. destruct (retrieval_is_a_share n z Hn). apply Rabs_le. nra.
Qed.

(* The weights of the query as quotients whose denominator is at least 1: [rivals] is what all the
   other rows weigh for each unit that the answer weighs. *)
Definition rivals (n a b : R) : R :=
  let x := b * causal_retrieval n a in
  exp (b / (2 * n - 1) - x) + exp (2 * b / (2 * n + 1) - x) + (2 * n - 2) * exp (- x).

Lemma rivals_are_positive n a b : 1 <= n -> 0 < rivals n a b.
Proof.
  intros Hn. unfold rivals. cbv zeta. set (x := b * causal_retrieval n a).
  pose proof (exp_pos (b / (2 * n - 1) - x)). pose proof (exp_pos (2 * b / (2 * n + 1) - x)).
  pose proof (exp_pos (- x)). nra.
Qed.

Lemma weights_by_rivals n a b : 1 <= n ->
  let x := b * causal_retrieval n a in let p := / (1 + rivals n a b) in
  causal_target n a b = p /\ to_last_item n a b = exp (b / (2 * n - 1) - x) * p /\
  to_itself n a b = exp (2 * b / (2 * n + 1) - x) * p /\
  concentration n a b = p ^ 2 + (to_last_item n a b + to_itself n a b) ^ 2
    + (2 * n - 2) * (exp (- x) * p) ^ 2.
Proof.
  intros Hn. cbv zeta. pose proof (rivals_are_positive n a b Hn) as P.
  destruct (weights_are_positive n a b Hn) as (_ & _ & HZ).
  unfold concentration, causal_target, to_last_item, to_itself, rivals, normalizer, to_answer, to_item in *.
  cbv zeta in P. set (x := b * causal_retrieval n a) in *.
  unfold Rminus in *. rewrite !exp_plus, exp_Ropp in *. pose proof (exp_pos x).
  set (w := exp x) in *. set (u := exp (b / (2 * n + -(1)))) in *. set (v := exp (2 * b / (2 * n + 1))) in *.
  clearbody w u v. assert (u + v + 2 * n + - (2) + w <> 0) by lra.
  repeat split; field; repeat split; lra.
Qed.

Section CausalExistence.

Variable N : nat.
Hypothesis at_least_one : (1 <= N)%nat.

(* The speed of beta is at most this while |gamma| <= 2N. *)
Let fastest : R := 4 * INR N * (1 + 4 * INR N).

Notation state := (parameter -> R).
(* the bounds of the clamps, as lines in time *)
Notation clamped_beta t x := (clamp (fastest * t + 0) (x Beta)).
Notation clamped_gamma t x := (clamp (0 * t + 2 * INR N) (x Gamma)).

Let push (i : parameter) (n a b c : R) : R :=
  match i with Alpha => push_alpha n a b c | Beta => push_beta n a b c | Gamma => push_gamma n a b c end.
Let speed (i : parameter) (t : R) (x : state) : R :=
  mean_over_prefixes N (fun n => push i n (x Alpha) (clamped_beta t x) (clamped_gamma t x)).

Lemma there_are_pairs : 1 <= INR N.
Proof. change 1 with (INR 1). apply le_INR, at_least_one. Qed.

Lemma bounds_are_positive : 0 < fastest /\ 0 < 2 * INR N.
Proof. pose proof there_are_pairs. unfold fastest. split; nra. Qed.

Lemma every_push_is_admissible i n : 1 <= n ->
  admissible (fun t x => push i n (x Alpha) (clamped_beta t x) (clamped_gamma t x)).
Proof.
  intros Hn. destruct bounds_are_positive as [Hf HN].
  assert (Hb : admissible (fun t x => clamped_beta t x)) by (apply admissible_clamp; lra).
  assert (Hc : admissible (fun t x => clamped_gamma t x)) by (apply admissible_clamp; lra).
  assert (Hg : admissible (fun _ (x : state) => causal_retrieval n (x Alpha))).
  { apply (admissible_of_coordinate (causal_retrieval n)); intros.
    - destruct (retrieval_is_a_share n a Hn). rewrite Rabs_right; lra.
    - apply causal_retrieval_is_lipschitz, Hn. }
  assert (score : forall r, admissible (fun t x =>
    exp (clamped_beta t x * r - clamped_beta t x * causal_retrieval n (x Alpha)))).
  { intros r. apply (admissible_exponential (fun t x => _ - _)). by_closure. }
  set (g := fun x : state => causal_retrieval n (x Alpha)) in *.
  set (b := fun t (x : state) => clamped_beta t x) in *.
  set (c := fun t (x : state) => clamped_gamma t x) in *.
  assert (Hu : admissible (fun t x => exp (b t x / (2 * n - 1) - b t x * g x))) by apply score.
  assert (Hv : admissible (fun t x => exp (2 * b t x / (2 * n + 1) - b t x * g x))).
  { apply (admissible_as _ (fun t x => exp (b t x * (2 / (2 * n + 1)) - b t x * g x))); [|apply score].
    intros. f_equal. field. lra. }
  assert (Ho : admissible (fun t x => exp (- (b t x * g x)))).
  { apply (admissible_as _ (fun t x => exp (b t x * 0 - b t x * g x))); [|apply score].
    intros. f_equal. ring. }
  assert (Hp : admissible (fun t x => / (1 + rivals n (x Alpha) (b t x)))).
  { apply (admissible_reciprocal (fun t x => 1 + _)).
    - intros t x. pose proof (rivals_are_positive n (x Alpha) (b t x) Hn). lra.
    - unfold rivals. cbv zeta. by_closure. }
  assert (parts :
    admissible (fun t x => causal_target n (x Alpha) (b t x)) /\
    admissible (fun t x => to_last_item n (x Alpha) (b t x)) /\
    admissible (fun t x => to_itself n (x Alpha) (b t x))).
  { repeat split; eapply admissible_as; try (intros; apply weights_by_rivals, Hn); by_closure. }
  destruct parts as (Ht & Hl & Hi).
  assert (Hr : admissible (fun t x => concentration n (x Alpha) (b t x))).
  { eapply admissible_as; [intros; apply weights_by_rivals, Hn|]. simpl. by_closure. }
  destruct i; unfold push, push_alpha, push_beta, push_gamma, raised_items; cbv zeta; simpl; unfold Rdiv;
    by_closure.
Qed.

Lemma every_speed_is_admissible i : admissible (speed i).
Proof.
  unfold speed, mean_over_prefixes, Rdiv.
  apply (admissible_product (fun t x => total N _) (fun _ _ => / INR N)); [|apply admissible_constant].
  generalize N at 1. intros m. induction m as [|m IH]; cbn [total]; [apply admissible_constant|].
  apply (admissible_sum (fun t x => total m _) (fun t x => _)); [exact IH|].
  apply every_push_is_admissible, at_least_one_pair.
Qed.

Lemma total_is_small f K m : (forall k, (k < m)%nat -> Rabs (f k) <= K) -> Rabs (total m f) <= INR m * K.
Proof.
  intros H. induction m as [|m IH]; [simpl; rewrite Rabs_R0; lra|].
  rewrite S_INR. cbn [total]. apply Rle_trans with (1 := Rabs_triang _ _).
  pose proof (H m ltac:(lia)). assert (Rabs (total m f) <= INR m * K); [|lra].
  apply IH. intros k Hk. apply H. lia.
Qed.

Lemma push_on_beta_is_bounded n a b c : is_a_prefix n -> Rabs c <= 2 * INR N ->
  Rabs (push_beta n a b c) <= fastest.
Proof.
  intros Hcase Hc. assert (Hn : 1 <= n) by (destruct Hcase; lra).
  destruct (retrieval_is_a_share n a Hn) as [Hg0 Hg1].
  destruct (attention_of_a_prefix n a b Hn) as ([Hp0 Hp1] & Hr & _).
  pose proof (concentration_is_at_most_1 n a b Hcase) as Hr1.
  destruct (weights_are_positive n a b Hn) as (Hw & _ & HZ).
  assert (parts : 0 < to_last_item n a b /\ 0 < to_itself n a b /\
    to_last_item n a b + to_itself n a b <= 1 - causal_target n a b).
  { unfold to_last_item, to_itself, causal_target. pose proof (exp_pos (b / (2 * n - 1))).
    pose proof (exp_pos (2 * b / (2 * n + 1))). repeat split; try (apply Rdiv_lt_0_compat; lra).
    replace (1 - to_answer n a b / normalizer n a b)
      with ((normalizer n a b - to_answer n a b) / normalizer n a b) by (field; lra).
    replace (exp (b / (2 * n - 1)) / normalizer n a b + exp (2 * b / (2 * n + 1)) / normalizer n a b)
      with (to_item n b / normalizer n a b) by (unfold to_item; field; lra).
    apply Rle_div_l; [exact HZ|].
    replace ((normalizer n a b - to_answer n a b) / normalizer n a b * normalizer n a b)
      with (normalizer n a b - to_answer n a b) by (field; lra).
    unfold normalizer. lra. }
  destruct parts as (Hu & Hv & Huv).
  assert (Hi : 0 <= raised_items n a b <= to_last_item n a b + to_itself n a b).
  { unfold raised_items. set (u := to_last_item n a b) in *. set (v := to_itself n a b) in *.
    assert (0 <= u / (2 * n - 1) <= u).
    { split; [apply Rdiv_le_0_compat; lra|]. apply Rle_div_l; nra. }
    assert (0 <= 2 * v / (2 * n + 1) <= v); [|lra].
    split; [apply Rdiv_le_0_compat; lra|]. apply Rle_div_l; nra. }
  unfold push_beta. cbv zeta. set (g := causal_retrieval n a) in *. set (p := causal_target n a b) in *.
  set (r := concentration n a b) in *. set (i := raised_items n a b) in *.
  set (q := to_last_item n a b + to_itself n a b) in *.
  assert (Hm : 0 <= p * g + i <= 1) by nra.
  assert (H1 : Rabs (p * (g - (p * g + i))) <= 1) by (apply Rabs_le; nra).
  assert (H2 : Rabs (p ^ 2 * g + q * i - (p * g + i) * r) <= 1) by (apply Rabs_le; nra).
  unfold Rminus at 1. apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp, !Rabs_mult.
  rewrite <- RPow_abs, (Rabs_right 2) by lra.
  set (C := Rabs c) in *. assert (0 <= C) by apply Rabs_pos.
  set (A := Rabs (p * (g - (p * g + i)))) in *. rewrite <- Rabs_mult. fold A.
  set (B := Rabs (p ^ 2 * g + q * i - (p * g + i) * r)) in *.
  unfold fastest. pose proof there_are_pairs.
  assert (2 * C * A <= 2 * C) by nra. assert (C ^ 2 <= (2 * INR N) ^ 2) by nra.
  assert (2 * C ^ 2 * B <= 2 * C ^ 2) by nra. nra.
Qed.

(* gamma stays between -2N and 2N, whatever layer 2 attends to. *)
Lemma causal_gamma_stays_inside (a b c c' : R -> R) t :
  moves c (fun u => mean_over_prefixes N (fun n => push_gamma n (a u) (b u) (c' u))) ->
  (forall u, Rabs (c u) <= 2 * INR N -> c' u = c u) -> c 0 = 0 -> 0 <= t -> Rabs (c t) <= 2 * INR N.
Proof.
  intros Hm Hin H0 Ht. pose proof bounds_are_positive as [_ HN].
  assert (attention : forall k u, (k < N)%nat -> 0 < causal_target (INR (S k)) (a u) (b u) < 1 /\
    1 <= 2 * INR N * concentration (INR (S k)) (a u) (b u)).
  { intros k u Hk. pose proof (at_least_one_pair k) as H1.
    destruct (attention_of_a_prefix (INR (S k)) (a u) (b u) H1) as (Hp & _ & Hr). split; [exact Hp|].
    assert (Hle : INR (S k) <= INR N) by (apply le_INR; lia).
    apply Rle_trans with (2 * INR N * (1 / (2 * INR (S k)))).
    - replace (2 * INR N * (1 / (2 * INR (S k)))) with (INR N / INR (S k)) by (field; lra).
      apply Rle_div_r; lra.
    - apply Rmult_le_compat_l; lra. }
  apply Rabs_le. split.
  - apply Rlt_le, Ropp_lt_cancel. rewrite Ropp_involutive.
    apply (never_crosses_a_wall (fun u => - c u) _ (2 * INR N) t
      (fun u Hu => is_derive_opp c _ _ (Hm u Hu))); [lra|exact Ht|].
    intros u _ Hu _. rewrite Hin by (apply Rabs_le; lra). apply Ropp_lt_gt_0_contravar.
    unfold mean_over_prefixes. apply Rdiv_lt_0_compat; [|lra]. apply total_positive; [exact at_least_one|].
    intros k Hk. destruct (attention k u Hk) as [Hp Hr]. unfold push_gamma.
    replace (c u) with (- (2 * INR N)) by lra. lra.
  - apply Rlt_le, (never_crosses_a_wall c _ (2 * INR N) t Hm); [lra|exact Ht|].
    intros u _ Hu _. rewrite Hin by (apply Rabs_le; lra).
    apply mean_has_the_sign_of_the_total; [exact at_least_one|].
    apply Ropp_lt_cancel. rewrite Ropp_0, <- (Rmult_1_l (total _ _)), Ropp_mult_distr_l, <- total_scaled.
    apply total_positive; [exact at_least_one|].
    intros k Hk. destruct (attention k u Hk) as [Hp Hr]. unfold push_gamma. rewrite Hu. lra.
Qed.

Lemma causal_beta_stays_inside (a b b' c : R -> R) t :
  moves b (fun u => mean_over_prefixes N (fun n => push_beta n (a u) (b' u) (c u))) ->
  (forall u, 0 <= u -> Rabs (c u) <= 2 * INR N) -> b 0 = 0 -> 0 <= t -> Rabs (b t) <= fastest * t.
Proof.
  intros Hm Hc H0 Ht.
  pose proof (slower_goes_less_far b (fun u => fastest * u) _ (fun _ => fastest) t Hm) as H.
  rewrite H0, Rminus_0_r, Rmult_0_r, Rminus_0_r in H. apply H; [|exact Ht|].
  - intros u _. auto_derive; [trivial|ring].
  - intros u Hu. unfold mean_over_prefixes, Rdiv. pose proof there_are_pairs as HN.
    rewrite Rabs_mult, Rabs_inv, (Rabs_right (INR N)) by lra. apply Rle_div_l; [lra|].
    rewrite (Rmult_comm fastest). apply total_is_small. intros k _.
    apply push_on_beta_is_bounded; [apply each_prefix_is_one|apply Hc; lra].
Qed.

(* The flow from zero exists for all times. *)
Theorem causal_flow_exists : exists alpha beta gamma : R -> R, descends (mean_prefix_loss N) alpha beta gamma.
Proof.
  destruct (a_solution_exists parameter speed (bounded_together speed every_speed_is_admissible))
    as [x [H0 Hx]].
  pose proof bounds_are_positive as [Hf HN].
  assert (Hc : forall t, 0 <= t -> Rabs (x Gamma t) <= 2 * INR N).
  { intros t Ht.
    apply (causal_gamma_stays_inside (x Alpha) (fun u => clamped_beta u (fun i => x i u)) (x Gamma)
      (fun u => clamped_gamma u (fun i => x i u)) t (Hx Gamma)); [|apply H0|exact Ht].
    intros u Hu. apply clamp_inside. lra. }
  assert (Hb : forall t, 0 <= t -> Rabs (x Beta t) <= fastest * t).
  { intros t Ht.
    apply (causal_beta_stays_inside (x Alpha) (x Beta) (fun u => clamped_beta u (fun i => x i u))
      (fun u => clamped_gamma u (fun i => x i u)) t (Hx Beta)); [|apply H0|exact Ht].
    intros u _. pose proof (clamp_is_bounded (0 * u + 2 * INR N) (x Gamma u) ltac:(lra)). lra. }
  exists (x Alpha), (x Beta), (x Gamma).
  split; [apply H0|]. split; [apply H0|]. split; [apply H0|]. intros t Ht.
  pose proof (Hx Alpha t Ht) as Da. pose proof (Hx Beta t Ht) as Db. pose proof (Hx Gamma t Ht) as Dc.
  specialize (Hb t Ht). specialize (Hc t Ht).
  cbv beta in Da, Db, Dc. unfold speed, push in Da, Db, Dc.
  rewrite !clamp_inside in Da, Db, Dc by lra. unfold mean_prefix_loss.
  rewrite (mean_by_parameter N (fun n y => prefix_loss n y (x Beta t) (x Gamma t))
      (fun n => push_alpha n (x Alpha t) (x Beta t) (x Gamma t))),
    (mean_by_parameter N (fun n y => prefix_loss n (x Alpha t) y (x Gamma t))
      (fun n => push_beta n (x Alpha t) (x Beta t) (x Gamma t))),
    (mean_by_parameter N (fun n y => prefix_loss n (x Alpha t) (x Beta t) y)
      (fun n => push_gamma n (x Alpha t) (x Beta t) (x Gamma t)))
    by (intros; first [apply prefix_loss_by_alpha|apply prefix_loss_by_beta|apply prefix_loss_by_gamma];
        assumption).
  exact (conj Da (conj Db Dc)).
Qed.

End CausalExistence.
