(* The printed loss follows from the network: App. B.3, for every integer N >= 1.

   The strict mask gives the loss of Model.v. The causal mask gives the loss of Causal.v. *)

Require Import Bool Arith Lia Reals Lra.
From Emergence Require Import Sums Network Model Causal.
Open Scope R_scope.

(* Where M takes an index: to the other half. *)
Definition other_half (h j : nat) : nat := if (j <? h)%nat then (j + h)%nat else (j - h)%nat.

Lemma moved_swaps_halves h x j : (j < 2 * h)%nat -> moved h x j = x (other_half h j).
Proof.
  intros Hj. unfold moved, M, other_half.
  destruct (Nat.ltb_spec j h) as [H|H].
  - rewrite (total_single (2 * h) (j + h)); [|lia|].
    + decide_indices. simpl. ring.
    + intros k Hk Hne. decide_indices. simpl. ring.
  - rewrite (total_single (2 * h) (j - h)); [|lia|].
    + decide_indices. simpl. ring.
    + intros k Hk Hne. decide_indices. simpl. ring.
Qed.

Lemma total_of_other_half h f : total (2 * h) (fun j => f (other_half h j)) = total (2 * h) f.
Proof.
  replace (2 * h)%nat with (h + h)%nat by lia. rewrite !total_split, Rplus_comm. f_equal.
  - apply total_equal. intros k Hk. unfold other_half. decide_indices. f_equal. lia.
  - apply total_equal. intros k Hk. unfold other_half. decide_indices. f_equal. lia.
Qed.

Lemma other_half_twice h j : (j < 2 * h)%nat -> other_half h (other_half h j) = j.
Proof.
  intros Hj. unfold other_half. destruct (Nat.ltb_spec j h); decide_indices; lia.
Qed.

Lemma other_half_inside h j : (j < 2 * h)%nat -> (other_half h j < 2 * h)%nat.
Proof. intros Hj. unfold other_half. destruct (Nat.ltb_spec j h); lia. Qed.

(* M is orthogonal and symmetric. *)
Lemma dot_of_moved h x y : dot (2 * h) (moved h x) (moved h y) = dot (2 * h) x y.
Proof.
  unfold dot. rewrite <- (total_of_other_half h (fun k => x k * y k)).
  apply total_equal. intros k Hk. rewrite !moved_swaps_halves by exact Hk. reflexivity.
Qed.

Lemma moved_twice h x j : (j < 2 * h)%nat -> moved h (moved h x) j = x j.
Proof.
  intros Hj. rewrite moved_swaps_halves, moved_swaps_halves, other_half_twice;
    try apply other_half_inside; trivial.
Qed.

Lemma dot_moves_over h x y : dot (2 * h) (moved h x) y = dot (2 * h) x (moved h y).
Proof.
  rewrite <- dot_of_moved. apply total_equal. intros k Hk. rewrite moved_twice by exact Hk.
  reflexivity.
Qed.

Section Derivation.

(* n + 1 pairs, so that the last pair has number n *)
Variables (n h : nat) (a b p : nat -> vector) (mask : nat -> nat) (alpha beta gamma : R).
Hypothesis inputs : orthonormal (S n) h a b p.
Hypothesis before_or_itself : forall i, (i <= mask i <= S i)%nat.

Let X := context (S n) h n a b p.
(* the two parts of each row *)
Let content (i : nat) : vector :=
  if (i =? 2 * S n)%nat then a n else if Nat.even i then a (Nat.div2 i) else b (Nat.div2 i).
Let place (i : nat) : vector :=
  if (i =? 2 * S n)%nat then fun _ => 0
  else if Nat.even i then p (Nat.div2 i) else moved h (p (Nat.div2 i)).

Lemma row_of_context i u :
  X i u = if (u <? 2 * h)%nat then content i u else place i (u - 2 * h)%nat.
Proof.
  unfold X, context, content, place. destruct (i =? 2 * S n)%nat; [reflexivity|].
  destruct (Nat.even i); reflexivity.
Qed.

Lemma content_of_item k : (k <= n)%nat -> content (2 * k) = a k.
Proof.
  intros Hk. unfold content. decide_indices.
  rewrite Nat.even_mul, Nat.div2_double. reflexivity.
Qed.

Lemma content_of_label k : (k <= n)%nat -> content (2 * k + 1) = b k.
Proof.
  intros Hk. unfold content. decide_indices.
  rewrite Nat.add_1_r, Nat.even_succ, Nat.odd_mul, Nat.div2_succ_double. reflexivity.
Qed.

Lemma content_of_query : content (2 * S n) = a n.
Proof. unfold content. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma place_of_item k : (k <= n)%nat -> place (2 * k) = p k.
Proof.
  intros Hk. unfold place. decide_indices.
  rewrite Nat.even_mul, Nat.div2_double. reflexivity.
Qed.

Lemma place_of_label k : (k <= n)%nat -> place (2 * k + 1) = moved h (p k).
Proof.
  intros Hk. unfold place. decide_indices.
  rewrite Nat.add_1_r, Nat.even_succ, Nat.odd_mul, Nat.div2_succ_double. reflexivity.
Qed.

Lemma item_or_label i : (i < 2 * S n)%nat ->
  exists k, (k <= n)%nat /\ (i = 2 * k \/ i = 2 * k + 1)%nat.
Proof.
  intros Hi. destruct (Nat.Even_or_Odd i) as [[k ->]|[k ->]]; exists k; split; lia.
Qed.

(* The vectors of the rows of the context are orthonormal, too. *)
Lemma contents_are_orthonormal i j : (i < 2 * S n)%nat -> (j < 2 * S n)%nat ->
  dot (2 * h) (content i) (content j) = identity i j.
Proof.
  intros Hi Hj.
  destruct (item_or_label i Hi) as (k & Hk & [->| ->]); destruct (item_or_label j Hj) as (l & Hl & [->| ->]);
    rewrite ?content_of_item, ?content_of_label by assumption;
    destruct (inputs k l) as (A & B & C & _); try lia;
    destruct (inputs l k) as (_ & _ & C' & _); try lia.
  - rewrite A. unfold identity. destruct (Nat.eqb_spec k l); decide_indices; reflexivity.
  - rewrite C. unfold identity. decide_indices. reflexivity.
  - rewrite dot_commutes, C'. unfold identity. decide_indices. reflexivity.
  - rewrite B. unfold identity. destruct (Nat.eqb_spec k l); decide_indices; reflexivity.
Qed.

(* Layer 1 *)
Let scores_1 := product (2 * (2 * h)) (product (2 * (2 * h)) X (layer_1 h alpha)) (transpose X).
Let T := softmax mask scores_1.

Lemma scores_of_layer_1 i j : scores_1 i j = alpha * dot (2 * h) (moved h (place i)) (place j).
Proof.
  unfold scores_1, product, transpose, layer_1.
  rewrite (form_of_block (2 * (2 * h)) (2 * h) 1 1 _ (X i) (X j)) by lia.
  unfold dot. rewrite <- total_scaled. apply total_equal. intros l Hl.
  rewrite row_of_context. decide_indices. replace (1 * (2 * h) + l - 2 * h)%nat with l by lia.
  rewrite <- Rmult_assoc. f_equal. unfold moved. rewrite <- total_scaled.
  apply total_equal. intros k Hk.
  rewrite row_of_context. decide_indices. replace (1 * (2 * h) + k - 2 * h)%nat with k by lia.
  unfold scaled. ring.
Qed.

(* B.3: the score of the last label for its item is alpha. The last item, the last label and the
   query have no other score, of the rows that they may see. *)
Lemma scores_of_the_last_rows i j : (2 * n <= i <= 2 * S n)%nat -> (j <= i)%nat ->
  scores_1 i j = if (i =? 2 * n + 1)%nat && (j =? 2 * n)%nat then alpha else 0.
Proof.
  intros Hi Hj. rewrite scores_of_layer_1.
  assert (cases : (i = 2 * n \/ i = 2 * n + 1 \/ i = 2 * S n)%nat) by lia.
  destruct cases as [->|[->| ->]].
  - rewrite place_of_item by lia. decide_indices. cbn [andb].
    destruct (item_or_label j) as (k & Hk & [->| ->]); [lia| |].
    + rewrite place_of_item, dot_moves_over by exact Hk.
      destruct (inputs n k) as (_ & _ & _ & _ & E); [lia..|]. rewrite E. ring.
    + rewrite place_of_label, dot_of_moved by exact Hk.
      destruct (inputs n k) as (_ & _ & _ & E & _); [lia..|]. rewrite E.
      unfold identity. decide_indices. ring.
  - rewrite place_of_label, dot_moves_over, Nat.eqb_refl by lia. cbn [andb].
    destruct (item_or_label j) as (k & Hk & [->| ->]); [lia| |].
    + rewrite place_of_item, dot_of_moved by exact Hk.
      destruct (inputs n k) as (_ & _ & _ & E & _); [lia..|]. rewrite E.
      unfold identity. destruct (Nat.eqb_spec n k); decide_indices; ring.
    + rewrite place_of_label, dot_of_moved by exact Hk.
      destruct (inputs n k) as (_ & _ & _ & _ & E); [lia..|]. rewrite E.
      decide_indices. ring.
  - unfold place at 1. rewrite Nat.eqb_refl. decide_indices. cbn [andb].
    rewrite dot_moves_over. unfold dot. rewrite total_zero; [ring|]. intros. ring.
Qed.

(* How much each row retrieves of the item asked for: once from the item, once from its copy in the
   query. Rows before the last pair see neither. *)
Let retrieved (i : nat) : R := T i (2 * n)%nat + T i (2 * S n)%nat.

Lemma earlier_rows_retrieve_nothing i : (i < 2 * n)%nat -> retrieved i = 0.
Proof.
  intros Hi. unfold retrieved, T, softmax. pose proof (before_or_itself i). decide_indices. ring.
Qed.

(* The weight that rows with no score give to each row that they see. *)
Lemma uniform_attention scores i j c : (j < mask i)%nat ->
  (forall k, (k < mask i)%nat -> scores i k = c) -> softmax mask scores i j = 1 / INR (mask i).
Proof.
  intros Hj H. unfold softmax. decide_indices.
  rewrite (total_constant _ (exp c)) by (intros; rewrite H by assumption; reflexivity).
  rewrite H by assumption. field. split; [apply not_0_INR; lia|].
  pose proof (exp_pos c). lra.
Qed.

Lemma item_retrieves : retrieved (2 * n) =
  if (2 * n <? mask (2 * n))%nat then 1 / INR (2 * n + 1) else 0.
Proof.
  pose proof (before_or_itself (2 * n)) as Hm. unfold retrieved.
  replace (T (2 * n)%nat (2 * S n)%nat) with 0 by (unfold T, softmax; decide_indices; reflexivity).
  destruct (Nat.ltb_spec (2 * n) (mask (2 * n))) as [H|H].
  - unfold T. rewrite (uniform_attention _ _ _ 0); [|exact H|].
    + replace (mask (2 * n)%nat) with (2 * n + 1)%nat by lia. ring.
    + intros k Hk. rewrite scores_of_the_last_rows by lia. decide_indices. reflexivity.
  - unfold T, softmax. decide_indices. ring.
Qed.

Lemma label_retrieves : retrieved (2 * n + 1) = exp alpha / (exp alpha + INR (mask (2 * n + 1)%nat) - 1).
Proof.
  pose proof (before_or_itself (2 * n + 1)) as Hm. unfold retrieved, T, softmax. decide_indices.
  rewrite scores_of_the_last_rows by lia. decide_indices. cbn [andb].
  rewrite Rplus_0_r. f_equal.
  assert (Hrows : forall k, (k < mask (2 * n + 1))%nat ->
    exp (scores_1 (2 * n + 1)%nat k) = 1 + (exp alpha - 1) * identity k (2 * n)%nat).
  { intros k Hk. rewrite scores_of_the_last_rows by lia. rewrite Nat.eqb_refl. cbn [andb].
    unfold identity. destruct (k =? 2 * n)%nat; rewrite ?exp_0; ring. }
  rewrite (total_equal _ _ _ Hrows), total_plus, total_scaled, (total_constant _ 1) by reflexivity.
  rewrite (total_equal _ _ (fun k => 1 * identity k (2 * n)%nat)) by (intros; ring).
  rewrite (total_of_identity _ (fun _ => 1)) by lia. ring.
Qed.

Lemma query_retrieves :
  retrieved (2 * S n) = if (2 * S n <? mask (2 * S n))%nat then 2 / INR (2 * n + 3) else
    1 / INR (2 * n + 2).
Proof.
  pose proof (before_or_itself (2 * S n)) as Hm. unfold retrieved.
  assert (zero : forall k, (k < mask (2 * S n))%nat -> scores_1 (2 * S n)%nat k = 0).
  { intros k Hk. rewrite scores_of_the_last_rows by lia. decide_indices. reflexivity. }
  unfold T. rewrite (uniform_attention _ _ (2 * n) 0); [|lia|exact zero].
  destruct (Nat.ltb_spec (2 * S n) (mask (2 * S n))) as [H|H].
  - rewrite (uniform_attention _ _ (2 * S n) 0); [|exact H|exact zero].
    replace (mask (2 * S n)%nat) with (2 * n + 3)%nat by lia. field.
    apply not_0_INR. lia.
  - replace (mask (2 * S n)%nat) with (2 * n + 2)%nat by lia.
    unfold softmax. decide_indices. ring.
Qed.

(* Layer 2: the query scores each row by beta times what the row has retrieved. *)
Let U := attention_layer mask (2 * S n + 1) (2 * (2 * h)) (layer_1 h alpha) X.
Let scores_2 := product (4 * (2 * h)) (product (4 * (2 * h)) U (layer_2 h beta)) (transpose U).
Let Q := softmax mask scores_2.

Lemma content_stays i u : (u < 2 * h)%nat -> U i u = content i u.
Proof.
  intros Hu. unfold U, attention_layer, beside. decide_indices. rewrite row_of_context.
  decide_indices. reflexivity.
Qed.

Lemma retrieved_content i u : (u < 2 * h)%nat ->
  U i (2 * (2 * h) + u)%nat = total (2 * S n + 1) (fun k => T i k * content k u).
Proof.
  intros Hu. unfold U, attention_layer, beside. decide_indices. unfold product at 1.
  apply total_equal. intros k Hk. rewrite row_of_context.
  replace (2 * (2 * h) + u - 2 * (2 * h))%nat with u by lia. decide_indices. reflexivity.
Qed.

(* What each row has of the item asked for *)
Lemma item_in_each_row k : (k < 2 * S n + 1)%nat ->
  dot (2 * h) (a n) (content k) = identity k (2 * n)%nat + identity k (2 * S n)%nat.
Proof.
  intros Hk. rewrite <- (content_of_item n) at 1 by lia.
  destruct (Nat.eq_dec k (2 * S n)) as [->|Hne].
  - rewrite content_of_query, <- (content_of_item n), contents_are_orthonormal by lia.
    unfold identity. decide_indices. ring.
  - rewrite dot_commutes, contents_are_orthonormal by lia.
    unfold identity. destruct (Nat.eqb_spec k (2 * n)); decide_indices; ring.
Qed.

Lemma scores_of_layer_2 i : scores_2 (2 * S n)%nat i = beta * retrieved i.
Proof.
  unfold scores_2, product, transpose, layer_2.
  rewrite (form_of_block (4 * (2 * h)) (2 * h) 0 2 _ (U (2 * S n)%nat) (U i)) by lia.
  transitivity (beta * dot (2 * h) (a n) (fun u => total (2 * S n + 1) (fun k => T i k * content k u))).
  - unfold dot. rewrite <- total_scaled. apply total_equal. intros l Hl.
    rewrite retrieved_content by exact Hl. rewrite <- Rmult_assoc. f_equal.
    rewrite (total_equal _ _ (fun k => beta * (a n k * identity k l))).
    + rewrite total_scaled, total_of_identity by exact Hl. reflexivity.
    + intros k Hk. rewrite content_stays, content_of_query by lia. unfold scaled.
      replace (0 * (2 * h) + k)%nat with k by lia. ring.
  - f_equal. rewrite dot_of_total. unfold retrieved.
    rewrite (total_equal _ _ (fun k => T i k * identity k (2 * n)%nat + T i k * identity k (2 * S n)%nat)).
    + rewrite total_plus, !total_of_identity by lia. reflexivity.
    + intros k Hk. rewrite item_in_each_row by exact Hk. ring.
Qed.

(* The output: gamma times the rows that the query attends to. *)
Lemma answer_is_the_attended_content u : (u < 2 * h)%nat ->
  answer mask (S n) (2 * h) (layer_1 h alpha) (layer_2 h beta) (output h gamma) X u
  = gamma * total (2 * S n + 1) (fun k => Q (2 * S n)%nat k * content k u).
Proof.
  intros Hu. unfold answer, output. fold U. unfold product at 1.
  etransitivity; [exact (row_times_block (8 * (2 * h)) (2 * h) 4 0 _ _ u ltac:(lia))|]. decide_indices.
  rewrite (total_equal _ _ (fun k => gamma * (total (2 * S n + 1) (fun m => Q (2 * S n)%nat m * content m k)
    * identity k u))).
  - rewrite total_scaled, total_of_identity by exact Hu. reflexivity.
  - intros k Hk. unfold scaled, attention_layer, beside. decide_indices.
    unfold product at 1. rewrite <- Rmult_assoc, (Rmult_comm _ gamma), Rmult_assoc.
    f_equal. f_equal. apply total_equal. intros m Hm.
    replace (4 * (2 * h) + k - 4 * (2 * h))%nat with k by lia.
    rewrite content_stays by exact Hk. reflexivity.
Qed.

(* The loss, in terms of the query's attention: q to each row of the earlier pairs, and three more. *)
Let rest (m : nat) : vector := fun u => total m (fun k => content k u).

Lemma dot_with_rest x m : dot (2 * h) x (rest m) = total m (fun k => dot (2 * h) x (content k)).
Proof.
  unfold rest. rewrite (total_equal m (fun k => dot (2 * h) x (content k))
    (fun k => 1 * dot (2 * h) x (content k))) by (intros; ring).
  rewrite <- dot_of_total. apply total_equal. intros u Hu. f_equal. apply total_equal. intros. ring.
Qed.

Lemma rest_is_orthogonal m i : (m <= i < 2 * S n)%nat -> dot (2 * h) (content i) (rest m) = 0.
Proof.
  intros Hi. rewrite dot_with_rest. apply total_zero. intros k Hk.
  rewrite contents_are_orthonormal by lia. unfold identity. decide_indices. reflexivity.
Qed.

Lemma square_of_rest m : (m <= 2 * S n)%nat -> dot (2 * h) (rest m) (rest m) = INR m.
Proof.
  intros Hm. induction m as [|m IH].
  - apply total_zero. intros. unfold rest. simpl. ring.
  - transitivity (dot (2 * h) (rest m) (rest m) + 2 * dot (2 * h) (content m) (rest m)
                  + dot (2 * h) (content m) (content m)).
    + unfold dot. rewrite <- total_scaled, <- !total_plus. apply total_equal. intros u _.
      unfold rest. simpl total. ring.
    + rewrite IH, rest_is_orthogonal, contents_are_orthonormal, S_INR by lia.
      unfold identity. rewrite Nat.eqb_refl. ring.
Qed.

Lemma loss_by_attention q : (forall k, (k < 2 * n)%nat -> Q (2 * S n)%nat k = q) ->
  let to_item := Q (2 * S n)%nat (2 * n)%nat + Q (2 * S n)%nat (2 * S n)%nat in
  let to_label := Q (2 * S n)%nat (2 * n + 1)%nat in
  network_loss mask (S n) h a b p alpha beta gamma
  = gamma ^ 2 * (INR (2 * n) * q ^ 2 + to_item ^ 2 + to_label ^ 2) - 2 * gamma * to_label + 1.
Proof.
  intros Hq to_item to_label. unfold network_loss, squared_error.
  replace (S n - 1)%nat with n by lia. fold X.
  assert (E : forall u, (u < 2 * h)%nat -> total (2 * S n + 1) (fun k => Q (2 * S n)%nat k * content k u)
    = q * rest (2 * n) u + to_item * content (2 * n) u + to_label * content (2 * n + 1) u).
  { intros u Hu. replace (2 * S n + 1)%nat with (S (S (S (2 * n)))) by lia. cbn [total].
    rewrite (total_equal _ _ (fun k => q * content k u)) by (intros; rewrite Hq; trivial).
    rewrite total_scaled. unfold to_item, to_label, rest.
    replace (S (S (2 * n))) with (2 * S n)%nat by lia.
    replace (S (2 * n)) with (2 * n + 1)%nat by lia.
    rewrite content_of_query, content_of_item by lia. ring. }
  rewrite (total_equal _ _ (fun u => (content (2 * n + 1) u
    - gamma * (q * rest (2 * n) u + to_item * content (2 * n) u + to_label * content (2 * n + 1) u)) ^ 2)).
  2: { intros u Hu. rewrite answer_is_the_attended_content, E by exact Hu.
       rewrite content_of_label by lia. reflexivity. }
  set (A := content (2 * n)). set (B := content (2 * n + 1)). set (C := rest (2 * n)).
  transitivity ((1 - gamma * to_label) ^ 2 * dot (2 * h) B B + (gamma * q) ^ 2 * dot (2 * h) C C
    + (gamma * to_item) ^ 2 * dot (2 * h) A A - 2 * (1 - gamma * to_label) * (gamma * q) * dot (2 * h) B C
    - 2 * (1 - gamma * to_label) * (gamma * to_item) * dot (2 * h) B A
    + 2 * (gamma * q) * (gamma * to_item) * dot (2 * h) A C).
  - unfold dot, Rminus. rewrite !Ropp_mult_distr_l.
    rewrite <- !total_scaled, <- !total_plus. apply total_equal. intros u _. ring.
  - unfold A, B, C. rewrite !rest_is_orthogonal, square_of_rest, !contents_are_orthonormal by lia.
    unfold identity. decide_indices. ring.
Qed.
(* The same in terms of the unnormalised weights, as B.3 has it *)
Lemma loss_by_weights :
  let to_label := exp (beta * (exp alpha / (exp alpha + INR (mask (2 * n + 1)%nat) - 1))) in
  let to_item := exp (beta * if (2 * n <? mask (2 * n))%nat then 1 / INR (2 * n + 1) else 0)
    + if (2 * S n <? mask (2 * S n))%nat then exp (beta * (2 / INR (2 * n + 3))) else 0 in
  let norm := INR (2 * n) + to_item + to_label in
  network_loss mask (S n) h a b p alpha beta gamma
  = gamma ^ 2 * (to_label ^ 2 + to_item ^ 2 + INR (2 * n)) / norm ^ 2
    - 2 * gamma * to_label / norm + 1.
Proof.
  pose proof (before_or_itself (2 * S n)) as Hm. intros w s norm.
  set (e := fun k => exp (scores_2 (2 * S n)%nat k)).
  assert (e_earlier : forall k, (k < 2 * n)%nat -> e k = 1).
  { intros k Hk. unfold e. rewrite scores_of_layer_2, earlier_rows_retrieve_nothing by exact Hk.
    rewrite Rmult_0_r. apply exp_0. }
  assert (e_item : e (2 * n)%nat
    = exp (beta * if (2 * n <? mask (2 * n))%nat then 1 / INR (2 * n + 1) else 0)).
  { unfold e. rewrite scores_of_layer_2, item_retrieves. reflexivity. }
  assert (e_label : e (2 * n + 1)%nat = w).
  { unfold e. rewrite scores_of_layer_2, label_retrieves. reflexivity. }
  assert (positive : 0 < norm).
  { unfold norm, w, s. pose proof (pos_INR (2 * n)). pose proof (exp_pos (beta * (2 / INR (2 * n + 3)))).
    assert (0 <= if (2 * S n <? mask (2 * S n))%nat then exp (beta * (2 / INR (2 * n + 3))) else 0)
      by (destruct (2 * S n <? mask (2 * S n))%nat; lra).
    pose proof (exp_pos (beta * if (2 * n <? mask (2 * n))%nat then 1 / INR (2 * n + 1) else 0)).
    pose proof (exp_pos (beta * (exp alpha / (exp alpha + INR (mask (2 * n + 1)%nat) - 1)))). lra. }
  assert (two_rows : total (2 * n + 2) e = INR (2 * n) + e (2 * n)%nat + w).
  { replace (2 * n + 2)%nat with (S (S (2 * n))) by lia. cbn [total].
    rewrite (total_constant _ 1 e e_earlier), <- e_label.
    replace (S (2 * n)) with (2 * n + 1)%nat by lia. ring. }
  assert (seen : forall k, (k < mask (2 * S n))%nat -> Q (2 * S n)%nat k = e k / total (mask (2 * S n)%nat) e).
  { intros k Hk. unfold Q, softmax. decide_indices. reflexivity. }
  assert (all : total (mask (2 * S n)%nat) e = norm /\
    Q (2 * S n)%nat (2 * n)%nat + Q (2 * S n)%nat (2 * S n)%nat = s / norm).
  { unfold norm, s. rewrite <- e_item. destruct (Nat.ltb_spec (2 * S n) (mask (2 * S n))) as [H|H].
    - assert (e_query : e (2 * S n)%nat = exp (beta * (2 / INR (2 * n + 3)))).
      { unfold e. rewrite scores_of_layer_2, query_retrieves. decide_indices. reflexivity. }
      assert (E : total (mask (2 * S n)%nat) e = INR (2 * n) + (e (2 * n)%nat + exp (beta * (2 / INR (2 * n + 3)))) + w).
      { replace (mask (2 * S n)%nat) with (S (2 * n + 2)) by lia. cbn [total].
        rewrite two_rows. replace (2 * n + 2)%nat with (2 * S n)%nat by lia. rewrite e_query. ring. }
      split; [exact E|]. rewrite !seen, E, e_query by lia. unfold Rdiv. ring.
    - assert (E : total (mask (2 * S n)%nat) e = INR (2 * n) + (e (2 * n)%nat + 0) + w).
      { replace (mask (2 * S n)%nat) with (2 * n + 2)%nat by lia. rewrite two_rows. ring. }
      split; [exact E|]. rewrite seen, E by lia. unfold Q, softmax. decide_indices. unfold Rdiv. ring. }
  destruct all as [E I].
  rewrite (loss_by_attention (1 / norm)).
  - rewrite I, (seen (2 * n + 1)%nat), E, e_label by lia. field. lra.
  - intros k Hk. rewrite seen, E, e_earlier by lia. reflexivity.
Qed.

End Derivation.

(* B.3: under the strict mask and on orthonormal inputs, the network has the printed loss. *)
Theorem network_has_the_printed_loss (N h : nat) (a b p : nat -> vector) (alpha beta gamma : R) :
  (1 <= N)%nat -> orthonormal N h a b p ->
  network_loss strict N h a b p alpha beta gamma = loss (INR N) alpha beta gamma.
Proof.
  intros HN inputs. destruct N as [|n]; [lia|].
  rewrite (loss_by_weights n h a b p strict) by (trivial; unfold strict; lia). cbv zeta.
  unfold strict. decide_indices. unfold loss, signal, retrieval.
  replace (exp alpha + INR (2 * n + 1) - 1) with (exp alpha + 2 * INR (S n) - 2)
    by (rewrite plus_INR, mult_INR, (S_INR n); simpl; ring).
  set (s := exp (beta * (exp alpha / (exp alpha + 2 * INR (S n) - 2)))).
  rewrite Rmult_0_r, exp_0, mult_INR, (S_INR n). change (INR 2) with 2.
  replace (2 * INR n + (1 + 0) + s) with (s + 2 * (INR n + 1) - 1) by ring.
  f_equal. f_equal. f_equal. f_equal. ring.
Qed.

(* Under the causal mask it has the loss of a prefix that is asked for its last pair. *)
Theorem network_has_the_prefix_loss (n h : nat) (a b p : nat -> vector) (alpha beta gamma : R) :
  (1 <= n)%nat -> orthonormal n h a b p ->
  network_loss causal n h a b p alpha beta gamma = prefix_loss (INR n) alpha beta gamma.
Proof.
  intros Hn inputs. destruct n as [|n]; [lia|].
  rewrite (loss_by_weights n h a b p causal) by (trivial; unfold causal; lia). cbv zeta.
  unfold causal. decide_indices.
  unfold prefix_loss, normalizer, to_answer, to_item, causal_retrieval.
  replace (exp alpha + INR (S (2 * n + 1)) - 1) with (exp alpha + 2 * INR (S n) - 1)
    by (rewrite !S_INR, plus_INR, mult_INR; simpl; ring).
  replace (beta * (1 / INR (2 * n + 1))) with (beta / (2 * INR (S n) - 1)).
  2: { rewrite plus_INR, mult_INR, (S_INR n). change (INR 2) with 2. change (INR 1) with 1.
       pose proof (pos_INR n). field. lra. }
  replace (beta * (2 / INR (2 * n + 3))) with (2 * beta / (2 * INR (S n) + 1)).
  2: { rewrite plus_INR, mult_INR, (S_INR n). change (INR 2) with 2. replace (INR 3) with 3 by (simpl; ring).
       pose proof (pos_INR n). field. lra. }
  set (w := exp (beta * (exp alpha / (exp alpha + 2 * INR (S n) - 1)))).
  set (s := exp (beta / (2 * INR (S n) - 1)) + exp (2 * beta / (2 * INR (S n) + 1))).
  rewrite mult_INR, (S_INR n). change (INR 2) with 2.
  replace (2 * INR n + s + w) with (w + s + 2 * (INR n + 1) - 2) by ring.
  f_equal. f_equal. f_equal. f_equal. ring.
Qed.
