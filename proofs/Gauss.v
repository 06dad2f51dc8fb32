(* The Gaussian integral A(x) of the exact constants, and its values at 1/2 and 1. *)

Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.

From Emergence Require Import Arithmetic Calculus Model.
Open Scope R_scope.

(* A(x), the integral of e^(-u^2/2) from 0 to x. *)
Definition gauss (x : R) : R := RInt (fun u => exp (- u ^ 2 / 2)) 0 x.

Lemma gauss_by_x x : is_derive gauss x (exp (- x ^ 2 / 2)).
Proof.
  unfold gauss. apply (is_derive_RInt (fun u => exp (- u ^ 2 / 2)) _ 0 x).
  - apply filter_forall. intros y. apply (@RInt_correct R_CompleteNormedModule), ex_RInt_continuous.
    intros z _. apply (@ex_derive_continuous R_AbsRing R_NormedModule). auto_derive. trivial.
  - apply (@ex_derive_continuous R_AbsRing R_NormedModule). auto_derive. trivial.
Qed.

Lemma gauss_at_0 : gauss 0 = 0.
Proof. exact (RInt_point 0 (fun u => exp (- u ^ 2 / 2))). Qed.

Lemma gauss_at_half : 4799 / 10000 <= gauss (1 / 2) <= 48 / 100.
Proof. unfold gauss. split; by_enclosed_integral. Qed.

Lemma gauss_at_1 : 8556 / 10000 <= gauss 1 <= 8557 / 10000.
Proof. unfold gauss. split; by_enclosed_integral. Qed.
