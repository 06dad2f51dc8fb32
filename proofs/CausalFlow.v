(* How fast gradient flow moves the three parameters under the causal mask, with a loss at every
   position: the pushes of one prefix, and their mean. *)

Require Import Arith Lia Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Calculus Sums Causal Model Flow.
Open Scope R_scope.

(* The attention of the query in a prefix of n pairs: p to the answer, q to the last item and to the
   query itself (q1 and q2), and the sum R of its squares over the 2n vectors of the context. *)
Definition causal_target (n a b : R) : R := to_answer n a b / normalizer n a b.
Definition to_last_item (n a b : R) : R := exp (b / (2 * n - 1)) / normalizer n a b.
Definition to_itself (n a b : R) : R := exp (2 * b / (2 * n + 1)) / normalizer n a b.
Definition concentration (n a b : R) : R :=
  (to_answer n a b ^ 2 + to_item n b ^ 2 + 2 * n - 2) / normalizer n a b ^ 2.

(* What one more unit of beta adds to the score of item and query, weighted by their attention *)
Definition raised_items (n a b : R) : R :=
  to_last_item n a b / (2 * n - 1) + 2 * to_itself n a b / (2 * n + 1).

(* The pushes: minus the derivatives of the loss of the prefix. *)
Definition push_alpha (n a b c : R) : R :=
  let g := causal_retrieval n a in let p := causal_target n a b in let r := concentration n a b in
  2 * b * c * (g * (1 - g) * p * (1 - p - c * (p - r))).
Definition push_beta (n a b c : R) : R :=
  let g := causal_retrieval n a in let p := causal_target n a b in let r := concentration n a b in
  let i := raised_items n a b in let q := to_last_item n a b + to_itself n a b in
  2 * c * (p * (g - (p * g + i))) - 2 * c ^ 2 * (p ^ 2 * g + q * i - (p * g + i) * r).
Definition push_gamma (n a b c : R) : R := 2 * causal_target n a b - 2 * c * concentration n a b.

Lemma weights_are_positive n a b : 1 <= n ->
  0 < to_answer n a b /\ 0 < to_item n b /\ 0 < normalizer n a b.
Proof.
  intros Hn. unfold normalizer, to_answer, to_item.
  pose proof (exp_pos (b * causal_retrieval n a)). pose proof (exp_pos (b / (2 * n - 1))).
  pose proof (exp_pos (2 * b / (2 * n + 1))). lra.
Qed.

Lemma causal_retrieval_by_alpha n a : 1 <= n ->
  is_derive (causal_retrieval n) a (causal_retrieval n a * (1 - causal_retrieval n a)).
Proof.
  intros Hn. pose proof (exp_pos a). unfold causal_retrieval.
  auto_derive; [lra|]. field. lra.
Qed.

Lemma prefix_loss_by_alpha n a b c : 1 <= n ->
  is_derive (fun x => prefix_loss n x b c) a (- push_alpha n a b c).
Proof.
  intros Hn. destruct (weights_are_positive n a b Hn) as (Hw & Hs & HZ).
  assert (Dw : is_derive (fun x => to_answer n x b) a
    (b * (causal_retrieval n a * (1 - causal_retrieval n a)) * to_answer n a b)).
  { unfold to_answer. apply (is_derive_comp exp (fun x => b * causal_retrieval n x)).
    - apply is_derive_exp.
    - apply (is_derive_scal (causal_retrieval n)), causal_retrieval_by_alpha, Hn. }
  unfold prefix_loss, push_alpha, causal_target, concentration. unfold normalizer in *.
  set (w := fun x => to_answer n x b) in *. set (s := to_item n b) in *.
  change (to_answer n a b) with (w a) in *. clearbody s.
  change (is_derive (fun x => c ^ 2 * (w x ^ 2 + s ^ 2 + 2 * n - 2) / (w x + s + 2 * n - 2) ^ 2
    - 2 * c * w x / (w x + s + 2 * n - 2) + 1) a
    (- (2 * b * c * (causal_retrieval n a * (1 - causal_retrieval n a)
      * (w a / (w a + s + 2 * n - 2))
      * (1 - w a / (w a + s + 2 * n - 2)
         - c * (w a / (w a + s + 2 * n - 2)
                - (w a ^ 2 + s ^ 2 + 2 * n - 2) / (w a + s + 2 * n - 2) ^ 2)))))).
  set (g := causal_retrieval n a) in *.
  change (is_derive w a (b * (g * (1 - g)) * w a)) in Dw. clearbody g w.
  auto_derive.
  - repeat split; try (eexists; eassumption); try lra; apply Rgt_not_eq; nra.
  - rewrite (derivative_is _ _ _ Dw). field. lra.
Qed.

Lemma prefix_loss_by_gamma n a b c : 1 <= n ->
  is_derive (fun x => prefix_loss n a b x) c (- push_gamma n a b c).
Proof.
  intros Hn. destruct (weights_are_positive n a b Hn) as (_ & _ & HZ).
  unfold prefix_loss, push_gamma, causal_target, concentration.
  set (Z := normalizer n a b) in *. set (w := to_answer n a b). set (s := to_item n b).
  clearbody Z w s. auto_derive; [trivial|]. field. lra.
Qed.

Lemma prefix_loss_by_beta n a b c : 1 <= n ->
  is_derive (fun x => prefix_loss n a x c) b (- push_beta n a b c).
Proof.
  intros Hn. destruct (weights_are_positive n a b Hn) as (_ & _ & HZ).
  unfold prefix_loss, push_beta, causal_target, concentration, raised_items, to_last_item, to_itself.
  unfold normalizer, to_answer, to_item in *. set (g := causal_retrieval n a) in *. clearbody g.
  auto_derive.
  - change (exp (b / (2 * n - 1))) with (exp (b * / (2 * n - 1))) in HZ.
    change (exp (2 * b / (2 * n + 1))) with (exp (2 * b * / (2 * n + 1))) in HZ.
    set (Z := exp (b * g) + (exp (b * / (2 * n - 1)) + exp (2 * b * / (2 * n + 1)))) in *.
    clearbody Z. repeat split; try lra; apply Rgt_not_eq; nra.
  - replace (2 * b * / (2 * n + 1)) with (2 * b / (2 * n + 1)) by reflexivity.
    replace (b * / (2 * n - 1)) with (b / (2 * n - 1)) by reflexivity.
    set (w := exp (b * g)) in *. set (u := exp (b / (2 * n - 1))) in *.
    set (v := exp (2 * b / (2 * n + 1))) in *. clearbody w u v. field. lra.
Qed.

Lemma total_by_parameter N (f : nat -> R -> R) (l : nat -> R) x :
  (forall k, is_derive (f k) x (l k)) -> is_derive (fun y => total N (fun k => f k y)) x (total N l).
Proof.
  intros H. induction N as [|N IH]; simpl.
  - apply (is_derive_const 0).
  - apply (is_derive_plus (fun y => total N (fun k => f k y)) (f N)); [exact IH|apply H].
Qed.

Lemma mean_by_parameter N (f : R -> R -> R) (push : R -> R) x :
  (forall n, 1 <= n -> is_derive (f n) x (- push n)) ->
  - Derive (fun y => mean_over_prefixes N (fun n => f n y)) x = mean_over_prefixes N push.
Proof.
  intros H.
  assert (D : is_derive (fun y => mean_over_prefixes N (fun n => f n y)) x
    (/ INR N * total N (fun k => - push (INR (S k))))).
  { unfold mean_over_prefixes, Rdiv.
    apply is_derive_ext with (fun y => / INR N * total N (fun k => f (INR (S k)) y)); [intros; apply Rmult_comm|].
    apply (is_derive_scal (fun y => total N (fun k => f (INR (S k)) y))).
    apply (total_by_parameter N (fun k => f (INR (S k)))). intros k. apply H.
    rewrite S_INR. pose proof (pos_INR k). lra. }
  apply is_derive_unique in D. etransitivity; [apply f_equal; exact D|]. unfold mean_over_prefixes, Rdiv.
  rewrite (total_equal N _ (fun k => -1 * push (INR (S k)))) by (intros; ring).
  rewrite total_scaled. ring.
Qed.

Section Speeds.

Variables (N : nat) (alpha beta gamma : R -> R).
Hypothesis flow : descends (mean_prefix_loss N) alpha beta gamma.

Lemma causal_speed_of_alpha :
  moves alpha (fun t => mean_over_prefixes N (fun n => push_alpha n (alpha t) (beta t) (gamma t))).
Proof.
  intros t Ht. destruct flow as (_ & _ & _ & F). destruct (F t Ht) as (D & _ & _).
  unfold mean_prefix_loss in D.
  rewrite (mean_by_parameter N (fun n x => prefix_loss n x (beta t) (gamma t))
    (fun n => push_alpha n (alpha t) (beta t) (gamma t))) in D
    by (intros; apply prefix_loss_by_alpha; assumption).
  exact D.
Qed.

Lemma causal_speed_of_beta :
  moves beta (fun t => mean_over_prefixes N (fun n => push_beta n (alpha t) (beta t) (gamma t))).
Proof.
  intros t Ht. destruct flow as (_ & _ & _ & F). destruct (F t Ht) as (_ & D & _).
  unfold mean_prefix_loss in D.
  rewrite (mean_by_parameter N (fun n x => prefix_loss n (alpha t) x (gamma t))
    (fun n => push_beta n (alpha t) (beta t) (gamma t))) in D
    by (intros; apply prefix_loss_by_beta; assumption).
  exact D.
Qed.

Lemma causal_speed_of_gamma :
  moves gamma (fun t => mean_over_prefixes N (fun n => push_gamma n (alpha t) (beta t) (gamma t))).
Proof.
  intros t Ht. destruct flow as (_ & _ & _ & F). destruct (F t Ht) as (_ & _ & D).
  unfold mean_prefix_loss in D.
  rewrite (mean_by_parameter N (fun n x => prefix_loss n (alpha t) (beta t) x)
    (fun n => push_gamma n (alpha t) (beta t) (gamma t))) in D
    by (intros; apply prefix_loss_by_gamma; assumption).
  exact D.
Qed.

End Speeds.
