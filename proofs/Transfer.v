(* The theorems for the network itself, on any orthonormal inputs.

   Its loss is the printed one (Derivation.v), so its flow is the flow of Theorem 2 under the strict
   mask, and the flow that never forms a head under the causal mask with a loss at every position. *)

Require Import Bool Arith Lia Reals Lra FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Sums Network Causal Derivation Model Flow Order Gauss Theorem2 ICL Never.
From Emergence Require Import CausalExistence.
Open Scope R_scope.

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

(* Theorem 2, Definition 3 and Corollary 1, for every integer N >= 2. *)
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

(* The mean loss of the network over the prefixes of 1 to N pairs, each asked for its last pair. *)
Definition mean_network_loss (mask : nat -> nat) (N h : nat) (a b p : nat -> vector)
  (alpha beta gamma : R) : R :=
  total N (fun k => network_loss mask (S k) h a b p alpha beta gamma) / INR N.

(* Under the causal mask the flow of its three parameters exists and never forms a head, for every
   integer N >= 1. *)
Theorem never_for_the_network (N h : nat) (a b p : nat -> vector) :
  (1 <= N)%nat -> orthonormal N h a b p ->
  let L := mean_network_loss causal N h a b p in
  (exists alpha beta gamma : R -> R, descends L alpha beta gamma) /\
  forall alpha beta gamma : R -> R, descends L alpha beta gamma ->
  (forall t, 0 < t -> beta t < 0) /\ t_icl alpha beta gamma = p_infty /\
  ((3 <= N)%nat -> forall t, 0 < t -> alpha t < 0 /\ gamma t <= 1 + 37 / 220).
Proof.
  intros HN inputs L.
  assert (E : L = mean_prefix_loss N).
  { do 3 (apply functional_extensionality; intro).
    unfold L, mean_network_loss, mean_prefix_loss, mean_over_prefixes. f_equal.
    apply total_equal. intros k Hk. apply network_has_the_prefix_loss; [lia|].
    intros i j Hi Hj. apply inputs; lia. }
  rewrite E. split; [exact (causal_flow_exists N HN)|]. intros alpha beta gamma flow.
  split; [|split].
  - intros t Ht. exact (beta_never_rises N alpha beta gamma HN flow t Ht).
  - exact (icl_never_emerges N alpha beta gamma HN flow).
  - intros H3 t Ht. split; [exact (alpha_never_rises N alpha beta gamma HN flow t H3 Ht)|].
    apply (gamma_never_exceeds N alpha beta gamma HN flow t H3). lra.
Qed.
