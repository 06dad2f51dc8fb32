(* The network and its data as the paper defines them: Eq. 1 to 4 and App. A.3.

   Rows and columns are counted from 0, so item k is row 2k, label k is row 2k + 1, and the query is
   row 2N. The weights are arbitrary here; Eq. 6 to 8 come last. *)

Require Import Bool Arith Reals.
From Emergence Require Import Sums.
Open Scope R_scope.

(* A mask says how many rows, counted from the first, row i attends to. App. B.3 attends to the rows
   before i only; causal masks of language models let a row attend to itself too. *)
Definition strict (i : nat) : nat := i.
Definition causal (i : nat) : nat := S i.

(* The softmax of each row of scores, over the rows that the mask allows. The first row attends to
   nothing under the strict mask, and then retrieves 0. *)
Definition softmax (mask : nat -> nat) (scores : matrix) : matrix := fun i j =>
  if (j <? mask i)%nat then exp (scores i j) / total (mask i) (fun k => exp (scores i k)) else 0.

(* [X | softmax(X W X^T) X], where X has so many rows and columns *)
Definition attention_layer (mask : nat -> nat) (rows columns : nat) (W X : matrix) : matrix :=
  let scores := product columns (product columns X W) (transpose X) in
  beside columns X (product rows (softmax mask scores) X).

(* Eq. 1: two layers and an output. The network's answer is the last row. *)
Definition answer (mask : nat -> nat) (N D : nat) (W1 W2 W3 X : matrix) : vector :=
  let U := attention_layer mask (2 * N + 1) (2 * D) W1 X in
  let V := attention_layer mask (2 * N + 1) (4 * D) W2 U in
  product (8 * D) V W3 (2 * N)%nat.

Definition squared_error (D : nat) (y z : vector) : R := total D (fun u => (y u - z u) ^ 2).

(* Eq. 2: M swaps the halves of a vector with 2h entries. *)
Definition M (h : nat) : matrix := fun i j => if (j =? i + h)%nat || (i =? j + h)%nat then 1 else 0.

(* x M, for a row vector x *)
Definition moved (h : nat) (x : vector) : vector := fun j => total (2 * h) (fun i => x i * M h i j).

(* Eq. 3 and 4: the rows [a_k | p_k], [b_k | p_k M] and at last [a_q | 0]. *)
Definition context (N h q : nat) (a b p : nat -> vector) : matrix := fun i =>
  let k := Nat.div2 i in
  let beside_each (content position : vector) := fun u : nat =>
    if (u <? 2 * h)%nat then content u else position (u - 2 * h)%nat in
  if (i =? 2 * N)%nat then beside_each (a q) (fun _ => 0)
  else if Nat.even i then beside_each (a k) (p k) else beside_each (b k) (moved h (p k)).

(* Assumption 7: all items and labels are orthonormal, and so are all positions p_k and p_k M. The
   paper's sentence says so; of the products between items and labels its formula lists a_i . b_i. *)
Definition orthonormal (N h : nat) (a b p : nat -> vector) : Prop :=
  forall k l : nat, (k < N)%nat -> (l < N)%nat ->
  dot (2 * h) (a k) (a l) = identity k l /\ dot (2 * h) (b k) (b l) = identity k l /\
  dot (2 * h) (a k) (b l) = 0 /\
  dot (2 * h) (p k) (p l) = identity k l /\ dot (2 * h) (p k) (moved h (p l)) = 0.

(* Eq. 6 to 8 with alpha_3, beta_2, gamma_3 alone (Assumption 4), the other sixteen being zero. *)
Definition layer_1 (h : nat) (alpha : R) : matrix := block (2 * h) 1 1 (scaled alpha (M h)).
Definition layer_2 (h : nat) (beta : R) : matrix := block (2 * h) 0 2 (scaled beta identity).
Definition output (h : nat) (gamma : R) : matrix := block (2 * h) 4 0 (scaled gamma identity).

(* The loss of the network on one context of N pairs that asks for the last, in D = 2h dimensions. *)
Definition network_loss (mask : nat -> nat) (N h : nat) (a b p : nat -> vector)
  (alpha beta gamma : R) : R :=
  squared_error (2 * h) (b (N - 1)%nat)
    (answer mask N (2 * h) (layer_1 h alpha) (layer_2 h beta) (output h gamma)
       (context N h (N - 1) a b p)).
