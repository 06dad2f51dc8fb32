(* Speeds that Picard's iteration accepts: sums, products, exponentials and reciprocals of bounded
   Lipschitz functions.

   Nothing here knows of the network. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Picard.
Open Scope R_scope.

(* Bounded and Lipschitz until every time, with constants that may depend on it. *)
Definition admissible {I : Type} (f : R -> (I -> R) -> R) : Prop :=
  forall T, 0 <= T -> exists L, 0 <= L /\ bounded_lipschitz T L f.

Lemma lipschitz_by_derivative (f slope : R -> R) K a b : (forall z, is_derive f z (slope z)) ->
  (forall z, Rmin b a <= z <= Rmax b a -> Rabs (slope z) <= K) ->
  Rabs (f a - f b) <= K * Rabs (a - b).
Proof.
  intros Hf HK. destruct (MVT_gen f b a slope) as [c [Hc ->]].
  - intros z _. apply Hf.
  - intros z _. apply continuity_pt_filterlim, (@ex_derive_continuous R_AbsRing R_NormedModule).
    eexists. apply Hf.
  - rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|apply HK, Hc].
Qed.

Section Lipschitz.

Context {I : Type}.
Implicit Types f g : R -> (I -> R) -> R.

Lemma with_a_larger_constant T L M f : L <= M -> bounded_lipschitz T L f -> bounded_lipschitz T M f.
Proof.
  intros HLM [Hb Hl]. split.
  - intros t x Ht. specialize (Hb t x Ht). lra.
  - intros t u x y d Ht Hu Hd Hx. specialize (Hl t u x y d Ht Hu Hd Hx).
    pose proof (Rabs_pos (t - u)). nra.
Qed.

Lemma admissible_as f g : (forall t x, f t x = g t x) -> admissible g -> admissible f.
Proof.
  intros E H T HT. destruct (H T HT) as [L [HL [Hb Hl]]]. exists L. split; [exact HL|]. split.
  - intros. rewrite E. apply Hb; assumption.
  - intros. rewrite !E. apply Hl; assumption.
Qed.

Lemma admissible_constant c : admissible (fun (_ : R) (_ : I -> R) => c).
Proof.
  intros T _. exists (Rabs c). split; [apply Rabs_pos|]. split; [intros; lra|].
  intros t u x y d _ _ Hd _. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
  pose proof (Rabs_pos (t - u)). apply Rmult_le_pos; [apply Rabs_pos|lra].
Qed.

Lemma admissible_sum f g : admissible f -> admissible g -> admissible (fun t x => f t x + g t x).
Proof.
  intros Hf Hg T HT.
  destruct (Hf T HT) as [L [HL [Fb Fl]]]. destruct (Hg T HT) as [M [HM [Gb Gl]]].
  exists (L + M). split; [lra|]. split.
  - intros t x Ht. specialize (Fb t x Ht). specialize (Gb t x Ht).
    pose proof (Rabs_triang (f t x) (g t x)). lra.
  - intros t u x y d Ht Hu Hd Hx.
    specialize (Fl t u x y d Ht Hu Hd Hx). specialize (Gl t u x y d Ht Hu Hd Hx).
    replace (f t x + g t x - (f u y + g u y)) with (f t x - f u y + (g t x - g u y)) by ring.
    pose proof (Rabs_triang (f t x - f u y) (g t x - g u y)). lra.
Qed.

Lemma admissible_product f g : admissible f -> admissible g -> admissible (fun t x => f t x * g t x).
Proof.
  intros Hf Hg T HT.
  destruct (Hf T HT) as [L [HL [Fb Fl]]]. destruct (Hg T HT) as [M [HM [Gb Gl]]].
  assert (HLM : 0 <= L * M) by (apply Rmult_le_pos; assumption).
  exists (2 * (L * M)). split; [lra|]. split.
  - intros t x Ht. rewrite Rabs_mult.
    assert (Rabs (f t x) * Rabs (g t x) <= L * M); [|lra].
    apply Rmult_le_compat; try apply Rabs_pos; [apply Fb|apply Gb]; exact Ht.
  - intros t u x y d Ht Hu Hd Hx.
    specialize (Fl t u x y d Ht Hu Hd Hx). specialize (Gl t u x y d Ht Hu Hd Hx).
    replace (f t x * g t x - f u y * g u y)
      with (f t x * (g t x - g u y) + g u y * (f t x - f u y)) by ring.
    apply Rle_trans with (1 := Rabs_triang _ _). rewrite !Rabs_mult.
    assert (Rabs (f t x) * Rabs (g t x - g u y) <= L * (M * d))
      by (apply Rmult_le_compat; try apply Rabs_pos; [apply Fb, Ht|exact Gl]).
    assert (Rabs (g u y) * Rabs (f t x - f u y) <= M * (L * d))
      by (apply Rmult_le_compat; try apply Rabs_pos; [apply Gb, Hu|exact Fl]).
    lra.
Qed.

Lemma admissible_difference f g :
  admissible f -> admissible g -> admissible (fun t x => f t x - g t x).
Proof.
  intros Hf Hg. apply (admissible_as _ (fun t x => f t x + -1 * g t x)); [intros; ring|].
  apply admissible_sum; [exact Hf|].
  apply (admissible_product (fun _ _ => -1)); [apply admissible_constant|exact Hg].
Qed.

Lemma admissible_exponential f : admissible f -> admissible (fun t x => exp (f t x)).
Proof.
  intros Hf T HT. destruct (Hf T HT) as [L [HL [Fb Fl]]].
  pose proof (exp_pos L) as HE. exists (exp L * (1 + L)).
  assert (HEL : 0 <= exp L * L) by (apply Rmult_le_pos; lra). split; [lra|].
  assert (grows : forall z, z <= L -> Rabs (exp z) <= exp L).
  { intros z [Hz| ->]; rewrite Rabs_right by (apply Rgt_ge, exp_pos); [left; apply exp_increasing, Hz|lra]. }
  assert (below : forall t x, 0 <= t <= T -> f t x <= L).
  { intros t x Ht. specialize (Fb t x Ht). apply Rabs_le_between in Fb. lra. }
  split.
  - intros t x Ht. specialize (grows _ (below t x Ht)). lra.
  - intros t u x y d Ht Hu Hd Hx. specialize (Fl t u x y d Ht Hu Hd Hx).
    assert (0 <= d) by (pose proof (Rabs_pos (t - u)); lra).
    apply Rle_trans with (exp L * Rabs (f t x - f u y)); [|nra].
    apply lipschitz_by_derivative with exp; [apply is_derive_exp|].
    intros z [_ Hz]. apply grows, Rle_trans with (1 := Hz), Rmax_lub; apply below; assumption.
Qed.

Lemma admissible_reciprocal f : (forall t x, 1 <= f t x) -> admissible f -> admissible (fun t x => / f t x).
Proof.
  intros H1 Hf T HT. destruct (Hf T HT) as [L [HL [_ Fl]]]. exists (1 + L). split; [lra|].
  assert (small : forall t x, 0 < / f t x <= 1).
  { intros t x. specialize (H1 t x). split; [apply Rinv_0_lt_compat; lra|].
    rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  split.
  - intros t x _. specialize (small t x). rewrite Rabs_right; lra.
  - intros t u x y d Ht Hu Hd Hx. specialize (Fl t u x y d Ht Hu Hd Hx).
    pose proof (small t x) as S. pose proof (small u y) as S'.
    replace (/ f t x - / f u y) with (/ f t x * / f u y * (f u y - f t x))
      by (pose proof (H1 t x); pose proof (H1 u y); field; lra).
    rewrite Rabs_mult, Rabs_right, Rabs_minus_sym by nra.
    pose proof (Rabs_pos (f t x - f u y)). pose proof (Rabs_pos (t - u)).
    assert (/ f t x * / f u y <= 1) by nra. nra.
Qed.

(* Composition with a bounded function that is 1-Lipschitz. *)
Lemma admissible_through (h : R -> R) f :
  (forall a, Rabs (h a) <= 1) -> (forall a b, Rabs (h a - h b) <= Rabs (a - b)) ->
  admissible f -> admissible (fun t x => h (f t x)).
Proof.
  intros Hb Hl Hf T HT. destruct (Hf T HT) as [L [HL [_ Fl]]]. exists (1 + L). split; [lra|]. split.
  - intros t x _. specialize (Hb (f t x)). lra.
  - intros t u x y d Ht Hu Hd Hx. specialize (Fl t u x y d Ht Hu Hd Hx).
    specialize (Hl (f t x) (f u y)). pose proof (Rabs_pos (t - u)). lra.
Qed.

Lemma admissible_of_coordinate (h : R -> R) (i : I) :
  (forall a, Rabs (h a) <= 1) -> (forall a b, Rabs (h a - h b) <= Rabs (a - b)) ->
  admissible (fun _ x => h (x i)).
Proof.
  intros Hb Hl T _. exists 1. split; [lra|]. split; [intros; apply Hb|].
  intros t u x y d _ _ _ Hx. specialize (Hx i). specialize (Hl (x i) (y i)). lra.
Qed.

End Lipschitz.

(* What is made of admissible functions by sums, differences and products is admissible. *)
Ltac by_closure := repeat first
  [ assumption
  | apply admissible_constant
  | apply (admissible_difference (fun t x => _) (fun t x => _))
  | apply (admissible_sum (fun t x => _) (fun t x => _))
  | apply (admissible_product (fun t x => _) (fun t x => _)) ].

(* A number clamped to the interval from -r to r. *)
Definition clamp (r z : R) : R := Rmax (- r) (Rmin r z).

Lemma clamp_inside r z : Rabs z <= r -> clamp r z = z.
Proof.
  intros H. apply Rabs_le_between in H. unfold clamp. rewrite Rmin_right, Rmax_right; lra.
Qed.

Lemma clamp_is_bounded r z : 0 <= r -> Rabs (clamp r z) <= r.
Proof.
  intros Hr. apply Rabs_le. unfold clamp. split; [apply Rmax_l|].
  apply Rmax_lub; [lra|apply Rmin_l].
Qed.

Lemma clamp_is_lipschitz r q z w : 0 <= r -> 0 <= q ->
  Rabs (clamp r z - clamp q w) <= Rabs (r - q) + Rabs (z - w).
Proof.
  intros Hr Hq. unfold clamp, Rmin. destruct (Rle_dec r z), (Rle_dec q w); unfold Rmax.
  all: repeat (match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end);
    unfold Rabs; repeat (match goal with |- context [Rcase_abs ?a] => destruct (Rcase_abs a) end); lra.
Qed.

(* The bound of a clamp may grow with time. *)
Lemma admissible_clamp I v w (i : I) : 0 <= v -> 0 <= w -> admissible (fun t x => clamp (v * t + w) (x i)).
Proof.
  intros Hv Hw T HT. exists (v * T + w + (v + 1)). split; [nra|]. split.
  - intros t x Ht. assert (0 <= v * t) by (apply Rmult_le_pos; lra).
    assert (v * t <= v * T) by (apply Rmult_le_compat_l; lra).
    pose proof (clamp_is_bounded (v * t + w) (x i) ltac:(lra)). lra.
  - intros t u x y d Ht Hu Hd Hx. specialize (Hx i).
    apply Rle_trans with
      (1 := clamp_is_lipschitz (v * t + w) (v * u + w) (x i) (y i) ltac:(nra) ltac:(nra)).
    replace (v * t + w - (v * u + w)) with (v * (t - u)) by ring.
    rewrite Rabs_mult, (Rabs_right v) by lra. pose proof (Rabs_pos (t - u)).
    assert (0 <= (v * T + w) * d) by (apply Rmult_le_pos; nra).
    assert (v * Rabs (t - u) <= v * d) by (apply Rmult_le_compat_l; lra). nra.
Qed.
