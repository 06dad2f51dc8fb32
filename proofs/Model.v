(* The reduced model: its loss and the three derivatives (App. B.3, B.4, B.5).

   alpha, beta, gamma stand for the paper's alpha_3, beta_2, gamma_3. Inputs are orthonormal, the
   mask is strict, the query asks for the last of N pairs. Everything here holds for every real
   N >= 2, the integers among them. *)

Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* Layer 1: the attention g of the last label to its item, among 2N - 1 positions. *)
Definition retrieval (N alpha : R) : R := exp alpha / (exp alpha + 2 * N - 2).

(* The unnormalised attention s of the query to the target label, among 2N positions. *)
Definition signal (N alpha beta : R) : R := exp (beta * retrieval N alpha).

(* The loss as App. B.3 prints it. *)
Definition loss (N alpha beta gamma : R) : R :=
  let s := signal N alpha beta in
  gamma ^ 2 * (s ^ 2 + 2 * N - 1) / (s + 2 * N - 1) ^ 2 - 2 * gamma * s / (s + 2 * N - 1) + 1.

(* Its derivatives as App. B.4 prints them, with F = 2N - 1, G = e^alpha + 2N - 2, r = s + F. *)
Definition slope_alpha (N alpha beta gamma : R) : R :=
  let s := signal N alpha beta in
  4 * beta * (N - 1) * (2 * N - 1) * s * exp alpha / (exp alpha + 2 * N - 2) ^ 2
  * (gamma ^ 2 * (s - 1) / (s + 2 * N - 1) ^ 3 - gamma / (s + 2 * N - 1) ^ 2).
Definition slope_beta (N alpha beta gamma : R) : R :=
  let s := signal N alpha beta in
  2 * (2 * N - 1) * s * exp alpha / (exp alpha + 2 * N - 2)
  * (gamma ^ 2 * (s - 1) / (s + 2 * N - 1) ^ 3 - gamma / (s + 2 * N - 1) ^ 2).
Definition slope_gamma (N alpha beta gamma : R) : R :=
  let s := signal N alpha beta in
  2 * gamma * (s ^ 2 + 2 * N - 1) / (s + 2 * N - 1) ^ 2 - 2 * s / (s + 2 * N - 1).

Lemma derivative_written_otherwise (f : R -> R) (x l k : R) :
  is_derive f x l -> l = k -> is_derive f x k.
Proof. intros D <-. exact D. Qed.

Lemma derivative_is (f : R -> R) (x l : R) : is_derive f x l -> Derive (fun y : R => f y) x = l.
Proof. intros D. apply is_derive_unique, D. Qed.

Lemma signal_is_positive N alpha beta : 0 < signal N alpha beta.
Proof. apply exp_pos. Qed.

Lemma retrieval_by_alpha N alpha : 2 <= N ->
  is_derive (retrieval N) alpha ((2 * N - 2) * exp alpha / (exp alpha + 2 * N - 2) ^ 2).
Proof.
  intros HN. pose proof (exp_pos alpha). unfold retrieval.
  auto_derive; [lra|]. field. lra.
Qed.

Lemma loss_by_signal N s gamma : 2 <= N -> 0 < s ->
  is_derive (fun s => gamma ^ 2 * (s ^ 2 + 2 * N - 1) / (s + 2 * N - 1) ^ 2
                      - 2 * gamma * s / (s + 2 * N - 1) + 1) s
    (2 * (2 * N - 1) * (gamma ^ 2 * (s - 1) / (s + 2 * N - 1) ^ 3 - gamma / (s + 2 * N - 1) ^ 2)).
Proof.
  intros HN Hs. assert (0 < s + 2 * N - 1) by lra.
  auto_derive.
  - repeat split; try lra. apply Rgt_not_eq. ring_simplify.
    replace (s * (s * 1)) with (s * s) by ring. nra.
  - field. lra.
Qed.

(* B.4: dL/dalpha. *)
Theorem derivative_by_alpha (N alpha beta gamma : R) : 2 <= N ->
  is_derive (fun a => loss N a beta gamma) alpha (slope_alpha N alpha beta gamma).
Proof.
  intros HN. pose proof (exp_pos alpha). pose proof (signal_is_positive N alpha beta).
  assert (Ds : is_derive (fun a => signal N a beta) alpha
     (beta * ((2 * N - 2) * exp alpha / (exp alpha + 2 * N - 2) ^ 2) * signal N alpha beta)).
  { unfold signal. apply (is_derive_comp exp (fun a => beta * retrieval N a)).
    - apply is_derive_exp.
    - apply (is_derive_scal (retrieval N)), retrieval_by_alpha, HN. }
  pose proof (is_derive_comp _ (fun a => signal N a beta) _ _ _ (loss_by_signal N _ gamma HN H0) Ds) as D.
  unfold loss. refine (derivative_written_otherwise _ _ _ _ D _).
  unfold slope_alpha. unfold scal; simpl; unfold mult; simpl. field. lra.
Qed.

(* B.4: dL/dbeta. *)
Theorem derivative_by_beta (N alpha beta gamma : R) : 2 <= N ->
  is_derive (fun b => loss N alpha b gamma) beta (slope_beta N alpha beta gamma).
Proof.
  intros HN. pose proof (exp_pos alpha). pose proof (signal_is_positive N alpha beta).
  assert (Ds : is_derive (fun b => signal N alpha b) beta
     (retrieval N alpha * signal N alpha beta)).
  { unfold signal. auto_derive; [trivial|]. ring. }
  pose proof (is_derive_comp _ (fun b => signal N alpha b) _ _ _ (loss_by_signal N _ gamma HN H0) Ds) as D.
  unfold loss. refine (derivative_written_otherwise _ _ _ _ D _).
  unfold slope_beta, retrieval. unfold scal; simpl; unfold mult; simpl. field. lra.
Qed.

(* B.4: dL/dgamma. *)
Theorem derivative_by_gamma (N alpha beta gamma : R) : 2 <= N ->
  is_derive (fun c => loss N alpha beta c) gamma (slope_gamma N alpha beta gamma).
Proof.
  intros HN. pose proof (signal_is_positive N alpha beta).
  unfold loss, slope_gamma. set (s := signal N alpha beta) in *. clearbody s.
  auto_derive; [trivial|]. field. lra.
Qed.
