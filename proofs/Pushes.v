(* The signs of the pushes under the causal mask on the faces of the region that the flow keeps.

   Steps 1 to 4 of the proof that three parameters never form a head. *)

Require Import Arith Lia Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Emergence Require Import Arithmetic Calculus Sums Causal Model Flow Speeds CausalFlow.
Import Enclosures.
Open Scope R_scope.

Lemma retrieval_is_a_share n a : 1 <= n -> 0 < causal_retrieval n a < 1.
Proof.
  intros Hn. pose proof (exp_pos a). unfold causal_retrieval.
  split; [apply Rdiv_lt_0_compat; lra|apply Rlt_div_l; lra].
Qed.

Lemma retrieval_below n a y : 1 <= n -> exp a <= y -> causal_retrieval n a <= y / (y + 2 * n - 1).
Proof.
  intros Hn Hy. pose proof (exp_pos a). unfold causal_retrieval. apply Rle_div_l; [lra|].
  replace (y / (y + 2 * n - 1) * (exp a + 2 * n - 1))
    with (y * (exp a + 2 * n - 1) / (y + 2 * n - 1)) by (field; lra).
  apply Rle_div_r; nra.
Qed.

(* Of the real numbers only these can be a number of pairs. *)
Definition is_a_prefix (n : R) : Prop := n = 1 \/ 2 <= n.

Lemma each_prefix_is_one k : is_a_prefix (INR (S k)).
Proof.
  destruct k as [|k]; [left; reflexivity|right].
  rewrite !S_INR. pose proof (pos_INR k). lra.
Qed.

(* p lies between 0 and 1, and R is at least p^2 and 1/2n. *)
Lemma attention_of_a_prefix n a b : 1 <= n ->
  let p := causal_target n a b in let r := concentration n a b in
  0 < p < 1 /\ p ^ 2 <= r /\ 1 / (2 * n) <= r.
Proof.
  intros Hn. destruct (weights_are_positive n a b Hn) as (Hw & Hs & HZ).
  unfold causal_target, concentration. set (Z := normalizer n a b) in *.
  assert (EZ : Z = to_answer n a b + to_item n b + 2 * n - 2) by reflexivity.
  set (w := to_answer n a b) in *. set (s := to_item n b) in *. clearbody Z w s.
  assert (HZ2 : 0 < Z ^ 2) by (apply pow_lt; exact HZ).
  cbv zeta. repeat split.
  - apply Rdiv_lt_0_compat; lra.
  - apply Rlt_div_l; lra.
  - apply (Rle_div_r _ _ (Z ^ 2)); [exact HZ2|]. replace ((w / Z) ^ 2 * Z ^ 2) with (w ^ 2) by (field; lra). nra.
  - (* Cauchy-Schwarz: attention sums to 1 over 2n vectors *)
    apply (Rle_div_r _ _ (Z ^ 2)); [exact HZ2|]. replace (1 / (2 * n) * Z ^ 2) with (Z ^ 2 / (2 * n)) by (field; lra).
    apply Rle_div_l; [lra|].
    assert (E : (w ^ 2 + s ^ 2 + 2 * n - 2) * (2 * n) - Z ^ 2
      = (2 * n - 2) * (w - 1) ^ 2 + (2 * n - 2) * (s - 1) ^ 2 + (w - s) ^ 2) by (rewrite EZ; ring).
    assert (0 <= (2 * n - 2) * (w - 1) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    assert (0 <= (2 * n - 2) * (s - 1) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    pose proof (pow2_ge_0 (w - s)). lra.
Qed.

Lemma concentration_is_at_most_1 n a b : is_a_prefix n -> concentration n a b <= 1.
Proof.
  intros Hn. assert (H1 : 1 <= n) by (destruct Hn; lra).
  destruct (weights_are_positive n a b H1) as (Hw & Hs & HZ). unfold concentration.
  apply Rle_div_l; [apply pow_lt, HZ|]. unfold normalizer.
  set (w := to_answer n a b) in *. set (s := to_item n b) in *. destruct Hn as [->|Hn]; nra.
Qed.

(* p - R = (s (w - s) - (2n - 2) (1 - w)) / Z^2 *)
Lemma lead_of_the_target n a b : 1 <= n ->
  let w := to_answer n a b in let s := to_item n b in
  causal_target n a b - concentration n a b
  = (s * (w - s) - (2 * n - 2) * (1 - w)) / normalizer n a b ^ 2.
Proof.
  intros Hn. destruct (weights_are_positive n a b Hn) as (_ & _ & HZ). cbv zeta.
  unfold causal_target, concentration, normalizer in *. field. lra.
Qed.

(* Step 1. Where beta = 0 all attention is 1/m, with m = 2n + 1. *)
Lemma push_on_beta_at_zero n a c : 1 <= n ->
  let m := 2 * n + 1 in let g := causal_retrieval n a in
  push_beta n a 0 c
  = c * (2 / m ^ 2 * ((m - 1) * g - 1 / (m - 2) - 2 / m)
         - 2 * c / m ^ 3 * (1 + 2 * (m - 2) / m - 2 * g)).
Proof.
  intros Hn. cbv zeta. unfold push_beta, causal_target, concentration, raised_items,
    to_last_item, to_itself, normalizer, to_answer, to_item.
  replace (0 * causal_retrieval n a) with 0 by ring.
  replace (0 / (2 * n - 1)) with 0 by (field; lra).
  replace (2 * 0 / (2 * n + 1)) with 0 by (field; lra).
  rewrite exp_0. set (g := causal_retrieval n a). clearbody g. field. lra.
Qed.

(* While item and query retrieve more than the label, gamma only adds to the push downwards. *)
Lemma push_on_beta_from_above n a c y : 1 <= n -> 0 < c -> exp a <= y -> y <= 2 ->
  let m := 2 * n + 1 in
  push_beta n a 0 c < c * (2 / m ^ 2 * ((m - 1) * (y / (y + m - 2)) - 1 / (m - 2) - 2 / m)).
Proof.
  intros Hn Hc Ha Hy. cbv zeta. rewrite push_on_beta_at_zero by exact Hn. cbv zeta.
  pose proof (retrieval_below n a y Hn Ha) as Hg. pose proof (exp_pos a).
  replace (y + (2 * n + 1) - 2) with (y + 2 * n - 1) by ring.
  set (g := causal_retrieval n a) in *. set (G := y / (y + 2 * n - 1)) in *.
  set (m := 2 * n + 1). assert (Hm : 3 <= m) by (unfold m; lra).
  assert (HG : G <= 2 / m).
  { unfold G, m. apply Rle_div_l; [lra|].
    replace (2 / (2 * n + 1) * (y + 2 * n - 1)) with (2 * (y + 2 * n - 1) / (2 * n + 1)) by (field; lra).
    apply Rle_div_r; nra. }
  apply Rmult_lt_compat_l; [exact Hc|].
  assert (H1 : 2 / m ^ 2 * ((m - 1) * g - 1 / (m - 2) - 2 / m)
            <= 2 / m ^ 2 * ((m - 1) * G - 1 / (m - 2) - 2 / m)).
  { apply Rmult_le_compat_l; [apply Rdiv_le_0_compat; [lra|apply pow_lt; lra]|]. nra. }
  assert (H2 : 0 < 2 * c / m ^ 3 * (1 + 2 * (m - 2) / m - 2 * g)).
  { apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; [lra|apply pow_lt; lra]|].
    assert (1 + 2 * (m - 2) / m - 2 * (2 / m) = 3 - 8 / m) by (field; lra).
    assert (8 / m <= 8 / 3) by (apply Rmult_le_compat_l; [lra|apply Rinv_le_contravar; lra]). lra. }
  lra.
Qed.

(* The largest push where beta = 0, up to gamma, if alpha <= 0: c_n of the printed proof. *)
Definition largest_push (n : R) : R :=
  let m := 2 * n + 1 in 2 * (m - 1) * (m - 4) / (m ^ 3 * (m - 2)).

Lemma push_on_beta_below_the_largest n a c : 1 <= n -> 0 < c -> a <= 0 ->
  push_beta n a 0 c < c * largest_push n.
Proof.
  intros Hn Hc Ha.
  assert (He : exp a <= 1) by (rewrite <- exp_0; apply exponential_grows, Ha).
  pose proof (push_on_beta_from_above n a c 1 Hn Hc He ltac:(lra)) as H. cbv zeta in H.
  replace (largest_push n) with (2 / (2 * n + 1) ^ 2 * ((2 * n + 1 - 1) * (1 / (1 + (2 * n + 1) - 2))
    - 1 / (2 * n + 1 - 2) - 2 / (2 * n + 1))); [exact H|].
  unfold largest_push. field. lra.
Qed.

(* Their sum over all prefixes is negative: the prefix of one pair outweighs all others. *)
Lemma largest_push_below_a_difference n : 1 <= n -> largest_push n <= 1 / (2 * n) - 1 / (2 * (n + 1)).
Proof.
  intros Hn. unfold largest_push. cbv zeta.
  replace (1 / (2 * n) - 1 / (2 * (n + 1))) with (1 / (2 * n * (n + 1))) by (field; lra).
  apply Rle_div_l; [apply Rmult_lt_0_compat; [apply pow_lt|]; lra|].
  replace (1 / (2 * n * (n + 1)) * ((2 * n + 1) ^ 3 * (2 * n + 1 - 2)))
    with ((2 * n + 1) ^ 3 * (2 * n + 1 - 2) / (2 * n * (n + 1))) by (field; lra).
  assert (0 <= 24 * n ^ 3 + 24 * n ^ 2 - 4 * n - 1) by nra.
  apply (Rle_div_r _ _ (2 * n * (n + 1))); [nra|lra].
Qed.

Lemma largest_push_is_positive n : 2 <= n -> 0 <= largest_push n.
Proof.
  intros Hn. unfold largest_push. cbv zeta. apply Rdiv_le_0_compat; [nra|].
  apply Rmult_lt_0_compat; [apply pow_lt|]; lra.
Qed.

Lemma sum_of_largest_pushes_is_negative N : (1 <= N)%nat ->
  total N (fun k => largest_push (INR (S k))) < 0.
Proof.
  intros HN.
  assert (twelve : total 12 (fun k => largest_push (INR (S k))) + 1 / (2 * 13) < 0)
    by (cbv [total largest_push INR]; by_enclosure).
  destruct (le_lt_dec N 12) as [Hle|Hlt].
  - assert (H : forall d, total N (fun k => largest_push (INR (S k)))
      <= total (N + d) (fun k => largest_push (INR (S k)))).
    { induction d as [|d IH]; [rewrite Nat.add_0_r; lra|].
      rewrite Nat.add_succ_r. cbn [total].
      assert (0 <= largest_push (INR (S (N + d)))); [|lra].
      apply largest_push_is_positive. change 2 with (INR 2). apply le_INR. lia. }
    specialize (H (12 - N)%nat). replace (N + (12 - N))%nat with 12%nat in H by lia. lra.
  - assert (H : forall d, total (12 + d) (fun k => largest_push (INR (S k)))
      + 1 / (2 * (INR (12 + d) + 1)) < 0).
    { induction d as [|d IH].
      - rewrite Nat.add_0_r. replace (INR 12 + 1) with 13 by (simpl; ring). exact twelve.
      - rewrite Nat.add_succ_r. cbn [total].
        pose proof (largest_push_below_a_difference (INR (S (12 + d)))) as L.
        rewrite S_INR in *. pose proof (pos_INR (12 + d)). specialize (L ltac:(lra)). lra. }
    specialize (H (N - 12)%nat). replace (12 + (N - 12))%nat with N in H by lia.
    pose proof (pos_INR N). assert (0 < 1 / (2 * (INR N + 1))) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(* Step 2. While beta <= 0 the push on gamma is below this line. *)
Lemma push_on_gamma_from_above n a b c : is_a_prefix n -> b <= 0 -> 1 <= c ->
  push_gamma n a b c <= 2 * (1 / (8 * n * (2 * n - 1)) - (c - 1) / (2 * n)).
Proof.
  intros Hcase Hb Hc. assert (Hn : 1 <= n) by (destruct Hcase; lra).
  destruct (attention_of_a_prefix n a b Hn) as (_ & _ & Hr).
  pose proof (lead_of_the_target n a b Hn) as L. cbv zeta in L.
  destruct (weights_are_positive n a b Hn) as (Hw & Hs & HZ).
  assert (Hw1 : to_answer n a b <= 1).
  { unfold to_answer. rewrite <- exp_0. apply exponential_grows.
    destruct (retrieval_is_a_share n a Hn). nra. }
  unfold push_gamma. set (p := causal_target n a b) in *. set (r := concentration n a b) in *.
  assert (EZ : normalizer n a b = to_answer n a b + to_item n b + 2 * n - 2) by reflexivity.
  set (Z := normalizer n a b) in *. set (w := to_answer n a b) in *. set (s := to_item n b) in *.
  assert (D : p - r <= 1 / (8 * n * (2 * n - 1))).
  { rewrite L. apply Rle_div_l; [apply pow_lt; exact HZ|].
    replace (1 / (8 * n * (2 * n - 1)) * Z ^ 2) with (Z ^ 2 / (8 * n * (2 * n - 1))) by (field; lra).
    apply Rle_div_r; [nra|]. rewrite EZ. clearbody w s.
    destruct Hcase as [->|H2].
    - pose proof (pow2_ge_0 (w - 3 * s)). nra.
    - (* the difference is a square at w = 1, and falls with w *)
      assert (E : (w + s + 2 * n - 2) ^ 2 - (s * (w - s) - (2 * n - 2) * (1 - w)) * (8 * n * (2 * n - 1))
        = ((4 * n - 1) * s - (2 * n - 1)) ^ 2
          + (1 - w) * (8 * n * (2 * n - 1) * (s + 2 * n - 2) - (w + 1 + 2 * s + 2 * (2 * n - 2)))) by ring.
      pose proof (pow2_ge_0 ((4 * n - 1) * s - (2 * n - 1))).
      assert (0 <= (1 - w) * (8 * n * (2 * n - 1) * (s + 2 * n - 2) - (w + 1 + 2 * s + 2 * (2 * n - 2)))); [|lra].
      apply Rmult_le_pos; [lra|].
      assert (48 <= 8 * n * (2 * n - 1)) by nra.
      assert (48 * (s + 2 * n - 2) <= 8 * n * (2 * n - 1) * (s + 2 * n - 2)) by (apply Rmult_le_compat_r; lra).
      lra. }
  assert (E : (c - 1) * (1 / (2 * n)) = (c - 1) / (2 * n)) by (field; lra).
  assert ((c - 1) * (1 / (2 * n)) <= (c - 1) * r) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* Steps 3 and 4. The push on alpha is 2 beta gamma times this. *)
Definition lift (n a b c : R) : R :=
  let g := causal_retrieval n a in let p := causal_target n a b in
  g * (1 - g) * p * (1 - p - c * (p - concentration n a b)).

Lemma push_alpha_by_lift n a b c : push_alpha n a b c = 2 * b * c * lift n a b c.
Proof. reflexivity. Qed.

Lemma lift_is_positive n a b c : 1 <= n -> 0 <= c ->
  c * (causal_target n a b - concentration n a b) < 1 - causal_target n a b -> 0 < lift n a b c.
Proof.
  intros Hn Hc H. unfold lift. destruct (retrieval_is_a_share n a Hn).
  destruct (attention_of_a_prefix n a b Hn) as (Hp & _).
  repeat (apply Rmult_lt_0_compat; try lra).
Qed.

(* From two pairs on the lift is positive while beta <= 0 and gamma <= 2. *)
Lemma lift_from_two_pairs_on n a b c : 2 <= n -> b <= 0 -> 0 <= c <= 2 -> 0 < lift n a b c.
Proof.
  intros Hn Hb Hc. assert (H1 : 1 <= n) by lra. apply lift_is_positive; [exact H1|lra|].
  destruct (attention_of_a_prefix n a b H1) as (Hp & Hr & _).
  assert (Hp3 : causal_target n a b <= 1 / 3).
  { destruct (weights_are_positive n a b H1) as (Hw & Hs & HZ). unfold causal_target.
    apply Rle_div_l; [exact HZ|]. unfold normalizer.
    assert (to_answer n a b <= 1); [|lra].
    unfold to_answer. rewrite <- exp_0. apply exponential_grows.
    destruct (retrieval_is_a_share n a H1). nra. }
  set (p := causal_target n a b) in *. set (r := concentration n a b) in *.
  assert (p - r <= p * (1 - p)) by lra.
  assert (0 <= p * (1 - p)) by nra.
  assert (c * (p - r) <= 2 * (p * (1 - p))) by nra. nra.
Qed.

(* Step 4. At alpha = log 2 the label retrieves as much as the query does, and p < R. *)
Lemma lift_at_log_2 n b c : is_a_prefix n -> b <= 0 -> 0 <= c -> 0 < lift n (ln 2) b c.
Proof.
  intros Hcase Hb Hc. assert (Hn : 1 <= n) by (destruct Hcase; lra).
  apply lift_is_positive; [exact Hn|exact Hc|].
  destruct (attention_of_a_prefix n (ln 2) b Hn) as (Hp & _).
  pose proof (lead_of_the_target n (ln 2) b Hn) as L. cbv zeta in L.
  destruct (weights_are_positive n (ln 2) b Hn) as (Hw & Hs & HZ).
  assert (Eg : causal_retrieval n (ln 2) = 2 / (2 * n + 1))
    by (unfold causal_retrieval; rewrite exp_ln by lra; field; lra).
  assert (Hws : to_answer n (ln 2) b <= to_item n b).
  { unfold to_answer, to_item. rewrite Eg.
    replace (b * (2 / (2 * n + 1))) with (2 * b / (2 * n + 1)) by (field; lra).
    pose proof (exp_pos (b / (2 * n - 1))). lra. }
  assert (Hw1 : to_answer n (ln 2) b <= 1).
  { unfold to_answer. rewrite <- exp_0. apply exponential_grows.
    destruct (retrieval_is_a_share n (ln 2) Hn). nra. }
  assert (causal_target n (ln 2) b - concentration n (ln 2) b <= 0); [|nra].
  rewrite L. apply Rle_div_l; [apply pow_lt, HZ|]. nra.
Qed.

(* Step 3. At alpha = 0 the prefixes of one to three pairs lift together, up to gamma = 257/220. The
   printed proof calls this sum e^(x/6) A, at beta = -x and the largest gamma. *)
Definition scaled_lift (x : R) : R :=
  let c := 257 / 220 in
  let o := exp (- x / 6) * (1 + exp (- x / 3)) in
  let w2 := exp (- x / 4) in let s2 := exp (- x / 3) + exp (- (2 * x / 5)) in
  let w3 := exp (- x / 6) in let s3 := exp (- x / 5) + exp (- (2 * x / 7)) in
  1 / 4 * (1 + exp (- x / 3)) / (1 + o) ^ 2 * (1 - c * (1 - 2 * (o / (1 + o))))
  + 3 / 16 * exp (- x / 12) / (w2 + s2 + 2)
    * (1 - w2 / (w2 + s2 + 2) - c * ((s2 * (w2 - s2) - 2 * (1 - w2)) / (w2 + s2 + 2) ^ 2))
  + 5 / 36 / (w3 + s3 + 4)
    * (1 - w3 / (w3 + s3 + 4) - c * ((s3 * (w3 - s3) - 4 * (1 - w3)) / (w3 + s3 + 4) ^ 2)).

Lemma scaled_lift_is_positive x : 0 <= x -> 2 / 1000 <= scaled_lift x.
Proof.
  intros Hx. unfold scaled_lift. cbv zeta. destruct (Rle_lt_dec x 64) as [Hnear|Hfar].
  - interval with (i_prec 30, i_bisect x, i_depth 20).
  - interval with (i_prec 30).
Qed.

Lemma three_lifts_at_the_bound b : b <= 0 ->
  lift 1 0 b (257 / 220) + lift 2 0 b (257 / 220) + lift 3 0 b (257 / 220)
  = exp (b / 6) * scaled_lift (- b).
Proof.
  intros Hb. unfold lift.
  destruct (weights_are_positive 1 0 b ltac:(lra)) as (_ & _ & Z1).
  destruct (weights_are_positive 2 0 b ltac:(lra)) as (_ & _ & Z2).
  destruct (weights_are_positive 3 0 b ltac:(lra)) as (_ & _ & Z3).
  rewrite (lead_of_the_target 1 0 b), (lead_of_the_target 2 0 b), (lead_of_the_target 3 0 b) by lra.
  unfold scaled_lift, causal_target, normalizer, to_answer, to_item, causal_retrieval in *. cbv zeta.
  rewrite exp_0 in *.
  replace (b * (1 / (1 + 2 * 1 - 1))) with (b / 6 + (b / 6 + b / 6)) in * by field.
  replace (b / (2 * 1 - 1)) with (b / 3 + b / 3 + b / 3) in * by field.
  replace (2 * b / (2 * 1 + 1)) with (b / 3 + b / 3) in * by field.
  replace (b * (1 / (1 + 2 * 2 - 1))) with (b / 6 + b / 12) in * by field.
  replace (b / (2 * 2 - 1)) with (b / 3) in * by field.
  replace (2 * b / (2 * 2 + 1)) with (2 * b / 5) in * by field.
  replace (b * (1 / (1 + 2 * 3 - 1))) with (b / 6) in * by field.
  replace (b / (2 * 3 - 1)) with (b / 5) in * by field.
  replace (2 * b / (2 * 3 + 1)) with (2 * b / 7) in * by field.
  replace (- (- b) / 3) with (b / 3) by field. replace (- (- b) / 6) with (b / 6) by field.
  replace (- (- b) / 4) with (b / 6 + b / 12) by field. replace (- (- b) / 12) with (b / 12) by field.
  replace (- (- b) / 5) with (b / 5) by field.
  replace (- (2 * - b / 5)) with (2 * b / 5) by field.
  replace (- (2 * - b / 7)) with (2 * b / 7) by field.
  replace (b / 3) with (b / 6 + b / 6) in * by field. rewrite !exp_plus in *.
  pose proof (exp_pos (b / 6)). pose proof (exp_pos (b / 12)). pose proof (exp_pos (b / 5)).
  pose proof (exp_pos (2 * b / 5)). pose proof (exp_pos (2 * b / 7)).
  set (y := exp (b / 6)) in *. set (u := exp (b / 12)) in *. set (v := exp (b / 5)) in *.
  set (v' := exp (2 * b / 5)) in *. set (u' := exp (2 * b / 7)) in *. clearbody y u v v' u'.
  rewrite !Rmult_plus_distr_l. f_equal; [f_equal|].
  - field; repeat split; nra.
  - field; repeat split; nra.
  - field; repeat split; nra.
Qed.

Lemma three_lifts_are_positive b c : b <= 0 -> 0 <= c <= 257 / 220 ->
  0 < lift 1 0 b c + lift 2 0 b c + lift 3 0 b c.
Proof.
  intros Hb Hc.
  pose proof (three_lifts_at_the_bound b Hb) as E.
  pose proof (scaled_lift_is_positive (- b) ltac:(lra)) as S. pose proof (exp_pos (b / 6)) as P.
  assert (top : 0 < lift 1 0 b (257 / 220) + lift 2 0 b (257 / 220) + lift 3 0 b (257 / 220))
    by (rewrite E; apply Rmult_lt_0_compat; lra).
  assert (bottom : forall n, 1 <= n -> 0 < lift n 0 b 0).
  { intros n Hn. apply lift_is_positive; [exact Hn|lra|].
    destruct (attention_of_a_prefix n 0 b Hn) as (Hp & _). lra. }
  assert (affine : forall n, lift n 0 b c
    = (1 - c / (257 / 220)) * lift n 0 b 0 + c / (257 / 220) * lift n 0 b (257 / 220))
    by (intros n; unfold lift; cbv zeta; generalize (causal_retrieval n 0) (causal_target n 0 b)
          (concentration n 0 b); intros; field).
  rewrite !affine.
  pose proof (bottom 1 ltac:(lra)). pose proof (bottom 2 ltac:(lra)). pose proof (bottom 3 ltac:(lra)).
  set (l := c / (257 / 220)). assert (Hl : 0 <= l <= 1) by (unfold l; lra).
  set (x := lift 1 0 b 0 + lift 2 0 b 0 + lift 3 0 b 0).
  set (y := lift 1 0 b (257 / 220) + lift 2 0 b (257 / 220) + lift 3 0 b (257 / 220)) in *.
  assert (0 < (1 - l) * x + l * y); [|unfold x, y in *; lra].
  assert (0 < x) by (unfold x; lra). nra.
Qed.
