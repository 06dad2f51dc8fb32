(* Theorem 2 and Corollary 1 for the network itself, for every integer N >= 2 and every orthonormal
   inputs: its loss is the printed one (Derivation.v), so its flow is the flow of Theorem 2. *)

Require Import Bool Arith Lia Reals Lra FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Sums Network Derivation Model Flow Existence Order Gauss Times Theorem2 ICL.
Open Scope R_scope.

(* Gradient flow from zero on any loss of three parameters (Assumptions 5 and 6). *)
Definition descends (L : R -> R -> R -> R) (alpha beta gamma : R -> R) : Prop :=
  alpha 0 = 0 /\ beta 0 = 0 /\ gamma 0 = 0 /\
  forall t, 0 <= t ->
    is_derive alpha t (- Derive (fun a => L a (beta t) (gamma t)) (alpha t)) /\
    is_derive beta t (- Derive (fun b => L (alpha t) b (gamma t)) (beta t)) /\
    is_derive gamma t (- Derive (fun c => L (alpha t) (beta t) c) (gamma t)).

(* There are such inputs as soon as D = 2h is at least 2N: unit vectors. *)
Theorem orthonormal_inputs_exist (N h : nat) : (N <= h)%nat ->
  exists a b p : nat -> vector, orthonormal N h a b p.
Proof.
  intros HN. exists (fun k => identity k), (fun k => identity (N + k)%nat), (fun k => identity k).
  assert (units : forall i j, (i < 2 * h)%nat -> (j < 2 * h)%nat ->
    dot (2 * h) (identity i) (identity j) = identity i j).
  { intros i j Hi Hj. unfold dot.
    rewrite (total_equal _ _ (fun k => identity i k * identity k j)).
    - apply (total_of_identity (2 * h) (identity i)), Hj.
    - intros k _. f_equal. unfold identity. rewrite Nat.eqb_sym. reflexivity. }
  intros k l Hk Hl. repeat split; try (rewrite units by lia; unfold identity).
  - reflexivity.
  - destruct (Nat.eqb_spec k l); decide_indices; reflexivity.
  - decide_indices. reflexivity.
  - reflexivity.
  - unfold dot. apply total_zero. intros u Hu. rewrite moved_swaps_halves by exact Hu.
    unfold identity, other_half. destruct (Nat.ltb_spec u h);
      destruct (Nat.eqb_spec k u); decide_indices; first [exfalso; lia | ring].
Qed.

Theorem theorem_2_for_the_network (N h : nat) (a b p : nat -> vector) :
  (2 <= N)%nat -> orthonormal N h a b p ->
  let n := INR N in let L := network_loss strict N h a b p in
  exists alpha beta gamma : R -> R, descends L alpha beta gamma /\
  (forall a' b' c' : R -> R, descends L a' b' c' ->
     forall t, 0 <= t -> a' t = alpha t /\ b' t = beta t /\ c' t = gamma t) /\
  exists T_gamma T_beta T_alpha : R,
  emerges_at gamma T_gamma /\ emerges_at beta T_beta /\ emerges_at alpha T_alpha /\
  T_gamma < T_beta < T_alpha /\ t_icl alpha beta gamma = Finite T_alpha /\
  n * ln 2 - 1 / (3 * n) <= T_gamma <= n * ln 2 /\
  2 * gauss (1 / 2) * n ^ 2 + n / 2 <= T_beta <= 2 * gauss (1 / 2) * n ^ 2 + 11 / 10 * n /\
  2 * gauss 1 * n ^ 2 <= T_alpha <= 2 * gauss 1 * n ^ 2 + 11 / 4 * n.
Proof.
  intros HN inputs n L.
  assert (E : L = loss n).
  { do 3 (apply functional_extensionality; intro). apply network_has_the_printed_loss; trivial. lia. }
  assert (Hn : 2 <= n) by (apply le_INR in HN; exact HN).
  rewrite E. destruct (theorem_2 n Hn)
    as (alpha & beta & gamma & flow & unique & Tc & Tb & Ta & Hc & Hb & Ha & rest).
  exists alpha, beta, gamma. split; [exact flow|]. split; [exact unique|].
  exists Tc, Tb, Ta. destruct (icl_when_alpha_emerges n alpha beta gamma Hn flow Ta Ha) as [I _].
  intuition.
Qed.
