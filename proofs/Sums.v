(* Finite sums, and the matrices and vectors that are made of them.

   A vector is a function of an index and a matrix a function of two, both counted from 0. How many
   rows and columns count is said where they are summed over. *)

Require Import Bool Arith Lia Reals Lra.
Open Scope R_scope.

(* f 0 + ... + f (n - 1) *)
Fixpoint total (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => total m f + f m end.

Definition vector := nat -> R.
Definition matrix := nat -> nat -> R.

(* x . y in n dimensions *)
Definition dot (n : nat) (x y : vector) : R := total n (fun k => x k * y k).

(* A B, with n columns of A and rows of B *)
Definition product (n : nat) (A B : matrix) : matrix := fun i j => total n (fun k => A i k * B k j).
Definition transpose (A : matrix) : matrix := fun i j => A j i.

(* [A | B], with n columns of A *)
Definition beside (n : nat) (A B : matrix) : matrix :=
  fun i j => if (j <? n)%nat then A i j else B i (j - n)%nat.

Definition scaled (c : R) (A : matrix) : matrix := fun i j => c * A i j.
Definition identity : matrix := fun i j => if (i =? j)%nat then 1 else 0.

(* The matrix of D x D blocks that has A in block (r, c), counted from 0, and zeros elsewhere. *)
Definition block (D r c : nat) (A : matrix) : matrix := fun i j =>
  if (r * D <=? i)%nat && (i <? r * D + D)%nat && ((c * D <=? j)%nat && (j <? c * D + D)%nat)
  then A (i - r * D)%nat (j - c * D)%nat else 0.

Lemma total_equal n f g : (forall k, (k < n)%nat -> f k = g k) -> total n f = total n g.
Proof.
  intros H. induction n as [|n IH]; simpl; [reflexivity|].
  rewrite IH, H by (intros; try apply H; lia). reflexivity.
Qed.

Lemma total_zero n f : (forall k, (k < n)%nat -> f k = 0) -> total n f = 0.
Proof.
  intros H. induction n as [|n IH]; simpl; [reflexivity|].
  rewrite IH, H by (intros; try apply H; lia). ring.
Qed.

Lemma total_constant n c f : (forall k, (k < n)%nat -> f k = c) -> total n f = INR n * c.
Proof.
  intros H. induction n as [|n IH]; [simpl; ring|].
  rewrite S_INR. simpl total. rewrite IH, H by (intros; try apply H; lia). ring.
Qed.

Lemma total_plus n f g : total n (fun k => f k + g k) = total n f + total n g.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_scaled n c f : total n (fun k => c * f k) = c * total n f.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_swap n m (f : nat -> nat -> R) :
  total n (fun k => total m (fun l => f k l)) = total m (fun l => total n (fun k => f k l)).
Proof.
  induction n as [|n IH]; simpl.
  - symmetry. apply total_zero. reflexivity.
  - rewrite IH, <- total_plus. reflexivity.
Qed.

Lemma total_split m n f : total (m + n) f = total m f + total n (fun k => f (m + k)%nat).
Proof.
  induction n as [|n IH]; simpl.
  - rewrite Nat.add_0_r. ring.
  - rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

(* Of a sum only the terms of a window count if all others are zero. *)
Lemma total_window n lo D f : (lo + D <= n)%nat ->
  (forall k, (k < lo)%nat \/ (lo + D <= k < n)%nat -> f k = 0) ->
  total n f = total D (fun k => f (lo + k)%nat).
Proof.
  intros Hn H. replace n with (lo + (D + (n - lo - D)))%nat by lia.
  rewrite !total_split, (total_zero lo), (total_zero (n - lo - D)); [ring| |];
    intros k Hk; apply H; lia.
Qed.

Lemma total_single n l f : (l < n)%nat -> (forall k, (k < n)%nat -> k <> l -> f k = 0) -> total n f = f l.
Proof.
  intros Hl H. rewrite (total_window n l 1) by (try (intros; apply H); lia).
  simpl. rewrite Nat.add_0_r. ring.
Qed.

Ltac decide_indices := repeat match goal with
  | |- context [(?a <? ?b)%nat] =>
      first [rewrite (proj2 (Nat.ltb_lt a b)) by lia | rewrite (proj2 (Nat.ltb_ge a b)) by lia]
  | |- context [(?a <=? ?b)%nat] =>
      first [rewrite (proj2 (Nat.leb_le a b)) by lia | rewrite (proj2 (Nat.leb_gt a b)) by lia]
  | |- context [(?a =? ?b)%nat] =>
      first [rewrite (proj2 (Nat.eqb_eq a b)) by lia | rewrite (proj2 (Nat.eqb_neq a b)) by lia]
  end.

(* x times a single block is that block times the part of x that faces it. *)
Lemma row_times_block n D r c A (x : vector) j : (r * D + D <= n)%nat ->
  total n (fun k => x k * block D r c A k (c * D + j)%nat)
  = if (j <? D)%nat then total D (fun k => x (r * D + k)%nat * A k j) else 0.
Proof.
  intros Hn. destruct (Nat.ltb_spec j D) as [Hj|Hj].
  - rewrite (total_window n (r * D) D); [|exact Hn|].
    + apply total_equal. intros k Hk. unfold block. decide_indices. simpl.
      do 2 f_equal; lia.
    + intros k [Hk|Hk]; unfold block; decide_indices; rewrite ?andb_false_r; simpl; ring.
  - apply total_zero. intros k _. unfold block. decide_indices. rewrite !andb_false_r. ring.
Qed.

(* The bilinear form of a single block: x A y over the parts of x and y that face it. *)
Lemma form_of_block n D r c A (x y : vector) : (r * D + D <= n)%nat -> (c * D + D <= n)%nat ->
  total n (fun l => total n (fun k => x k * block D r c A k l) * y l)
  = total D (fun l => total D (fun k => x (r * D + k)%nat * A k l) * y (c * D + l)%nat).
Proof.
  intros Hr Hc. rewrite (total_window n (c * D) D); [|exact Hc|].
  - apply total_equal. intros l Hl. rewrite (row_times_block n D r c A x l Hr).
    decide_indices. reflexivity.
  - intros l Hl. rewrite (total_zero n); [ring|]. intros k _. unfold block.
    destruct Hl as [Hl|Hl]; decide_indices; rewrite ?andb_false_r; simpl; ring.
Qed.

Lemma total_of_identity n (x : vector) l : (l < n)%nat ->
  total n (fun k => x k * identity k l) = x l.
Proof.
  intros Hl. rewrite (total_single n l); [|exact Hl|]; unfold identity.
  - rewrite Nat.eqb_refl. ring.
  - intros k _ Hk. decide_indices. ring.
Qed.

Lemma dot_commutes n x y : dot n x y = dot n y x.
Proof. apply total_equal. intros. ring. Qed.

Lemma dot_of_total n m x (y : nat -> vector) c :
  dot n x (fun u => total m (fun k => c k * y k u)) = total m (fun k => c k * dot n x (y k)).
Proof.
  unfold dot. rewrite (total_equal n _ (fun u => total m (fun k => x u * (c k * y k u))))
    by (intros; symmetry; apply total_scaled).
  rewrite total_swap. apply total_equal. intros k _. rewrite <- total_scaled.
  apply total_equal. intros. ring.
Qed.
