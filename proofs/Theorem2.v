(* Theorem 2 with nothing supposed but N >= 2: the flow from zero exists, no other does, and along
   it all three parameters emerge, in this order and at these times. *)

Require Import Reals Lra.
From Emergence Require Import Model Flow Existence Order Gauss Times.
Open Scope R_scope.

Theorem theorem_2 (N : R) : 2 <= N ->
  exists alpha beta gamma : R -> R,
  follows_the_flow N alpha beta gamma /\
  (forall a b c : R -> R, follows_the_flow N a b c ->
     forall t, 0 <= t -> a t = alpha t /\ b t = beta t /\ c t = gamma t) /\
  exists T_gamma T_beta T_alpha : R,
  emerges_at gamma T_gamma /\ emerges_at beta T_beta /\ emerges_at alpha T_alpha /\
  T_gamma < T_beta < T_alpha /\
  N * ln 2 - 1 / (3 * N) <= T_gamma <= N * ln 2 /\
  2 * gauss (1 / 2) * N ^ 2 + N / 2 <= T_beta <= 2 * gauss (1 / 2) * N ^ 2 + 11 / 10 * N /\
  2 * gauss 1 * N ^ 2 <= T_alpha <= 2 * gauss 1 * N ^ 2 + 11 / 4 * N.
Proof.
  intros HN. destruct (flow_exists N HN) as (alpha & beta & gamma & flow).
  exists alpha, beta, gamma. split; [exact flow|]. split.
  - intros a b c other. exact (flow_is_unique N HN alpha beta gamma a b c flow other).
  - exact (times_along_the_flow N alpha beta gamma HN flow).
Qed.
