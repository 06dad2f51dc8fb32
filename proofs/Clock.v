(* The two estimates behind the times: how fast A(beta) can grow, from both sides.

   The clock t - N (1 - e^(-t/N)) is time without the delay in which gamma rises. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Emergence Require Import Arithmetic Calculus Model Flow Speeds Order Gauss.
Import Enclosures.
Open Scope R_scope.

Definition clock (N t : R) : R := t - N * (1 - exp (- t / N)).

(* What the clock cannot outrun: 2 N^2 times this, with A the Gaussian integral. *)
Definition upper (N b : R) : R :=
  (9 / 4 * b + (2 * N - 13 / 4) * gauss b) / (2 * N - 1).

Lemma exponential_below_a_line y : 0 <= y <= 3244 / 10000 -> exp y <= 1 + 5 / 4 * y.
Proof.
  intros Hy.
  assert (H : 1 - y / 4 <= exp (- y / 4)) by (pose proof (exp_ineq1_le (- y / 4)); lra).
  assert (Hpow : (1 - y / 4) ^ 4 <= exp (- y)).
  { replace (exp (- y)) with (exp (- y / 4) ^ 4).
    - apply pow_incr. lra.
    - simpl. rewrite Rmult_1_r, <- !exp_plus. f_equal. field. }
  assert (Hone : exp y * exp (- y) = 1).
  { rewrite <- exp_plus. replace (y + - y) with 0 by ring. apply exp_0. }
  assert (Hpoly : 1 <= (1 + 5 / 4 * y) * (1 - y / 4) ^ 4).
  { replace ((1 + 5 / 4 * y) * (1 - y / 4) ^ 4)
      with (1 + y * (1 / 4 - 7 / 8 * y + 13 / 32 * y ^ 2 - 19 / 256 * y ^ 3 + 5 / 1024 * y ^ 4)) by field.
    assert (0 <= 1 / 4 - 7 / 8 * y + 13 / 32 * y ^ 2 - 19 / 256 * y ^ 3 + 5 / 1024 * y ^ 4)
      by (interval with (i_prec 30, i_bisect y)).
    nra. }
  pose proof (exp_pos y). pose proof (exp_pos (- y)).
  apply Rmult_le_reg_r with (exp (- y)); [assumption|]. rewrite Hone.
  apply Rle_trans with (1 := Hpoly). apply Rmult_le_compat_l; lra.
Qed.

Lemma logarithm_from_below w : 0 <= w -> exp (w - w * w / 2) <= 1 + w.
Proof.
  intros Hw.
  assert (H : (1 + 0) * exp (- 0 + 0 * 0 / 2) <= (1 + w) * exp (- w + w * w / 2)).
  { apply (grows_where_the_speed_is_not_negative (fun w => (1 + w) * exp (- w + w * w / 2))
      (fun w => exp (- w + w * w / 2) * (w * w))); [|lra|].
    - intros u _. auto_derive; [trivial|].
      replace (- u + u * u * / 2) with (- u + u * u / 2) by (unfold Rdiv; ring). field.
    - intros u _. apply Rmult_le_pos; [left; apply exp_pos|nra]. }
  replace (- 0 + 0 * 0 / 2) with 0 in H by field. rewrite exp_0 in H.
  apply Rmult_le_reg_r with (exp (- w + w * w / 2)); [apply exp_pos|].
  rewrite <- exp_plus. replace (w - w * w / 2 + (- w + w * w / 2)) with 0 by field.
  rewrite exp_0. lra.
Qed.

(* Two numbers decide: b = beta and y = 1/N, with e^a for alpha at its most. *)
Lemma speed_on_the_box b y : 0 <= b <= 1 -> 0 <= y <= 1 / 2 ->
  let a := exp (b ^ 2 * (1 - y) / (2 - y)) in
  a / (1 + (a - 1) * y / (2 - y)) - b / (2 * (2 - y))
  - b * (1 - y) / (2 - y) ^ 2 * (1 + b ^ 2 * (1 - y) / (2 - y) / 2)
    * (1 - (a - 1) * y / (2 * (2 - y))) <= 23 / 20.
Proof.
  intros Hb Hy a. unfold a.
  interval with (i_prec 20, i_bisect b, i_bisect y, i_depth 20).
Qed.
