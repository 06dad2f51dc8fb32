(* The reduced model under the causal mask, with a loss at every position: what one prefix costs.

   A prefix of n pairs is asked for its last pair. Under the causal mask a row attends to itself too. *)

Require Import Reals.
From Emergence Require Import Sums.
Open Scope R_scope.

(* Layer 1: what the last label retrieves of its item, among 2n rows. *)
Definition causal_retrieval (n alpha : R) : R := exp alpha / (exp alpha + 2 * n - 1).

(* The unnormalised attention of the query: w to the last label, which is the answer, and s to the
   last item and to the query itself, which hold the same vector. *)
Definition to_answer (n alpha beta : R) : R := exp (beta * causal_retrieval n alpha).
Definition to_item (n beta : R) : R := exp (beta / (2 * n - 1)) + exp (2 * beta / (2 * n + 1)).
Definition normalizer (n alpha beta : R) : R :=
  to_answer n alpha beta + to_item n beta + 2 * n - 2.

(* The loss L_n of this prefix. *)
Definition prefix_loss (n alpha beta gamma : R) : R :=
  let w := to_answer n alpha beta in let s := to_item n beta in let Z := normalizer n alpha beta in
  gamma ^ 2 * (w ^ 2 + s ^ 2 + 2 * n - 2) / Z ^ 2 - 2 * gamma * w / Z + 1.

(* The mean over the prefixes of 1 to N pairs *)
Definition mean_over_prefixes (N : nat) (f : R -> R) : R :=
  total N (fun k => f (INR (S k))) / INR N.

(* A loss at every position that follows a pair, each asking for this pair. *)
Definition mean_prefix_loss (N : nat) (alpha beta gamma : R) : R :=
  mean_over_prefixes N (fun n => prefix_loss n alpha beta gamma).
