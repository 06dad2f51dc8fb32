(* The time until in-context learning (Definitions 2 and 3, Corollary 1 with Eq. 11).

   The paper defines t_ICL as an infimum of times, and so do we. Corollary 1 says Theta(N^2) and
   names no constant. Its proof (App. B.8) has T_3 < 4 N^2 + O(1/N) for the last of three parts. Here
   the constant is exact: t_ICL = 2 A(1) N^2 + O(N), with 2 A(1) = 1.711..., for every real N >= 2. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Arithmetic Calculus Model Flow Existence Speeds Order Gauss Times.
Open Scope R_scope.

(* Definition 3's condition: the induction head is there at time t. *)
Definition head_is_present (alpha beta gamma : R -> R) (t : R) : Prop :=
  0 <= t /\ 1 / 2 <= alpha t /\ 1 / 2 <= beta t /\ 1 / 2 <= gamma t.

(* Definition 2's, which is strict: all three parameters are greater than 1/2. *)
Definition head_has_emerged (alpha beta gamma : R -> R) (t : R) : Prop :=
  0 <= t /\ 1 / 2 < alpha t /\ 1 / 2 < beta t /\ 1 / 2 < gamma t.

(* Definition 3: t_ICL, the infimum of the times with a head. It would be infinite without any. *)
Definition t_icl (alpha beta gamma : R -> R) : Rbar := Glb_Rbar (head_is_present alpha beta gamma).

Section ICL.

Variables (N : R) (alpha beta gamma : R -> R).
Hypothesis at_least_two : 2 <= N.
Hypothesis flow : follows_the_flow N alpha beta gamma.

(* gamma stays above 1/2 from N ln 2 on, because gamma >= 1 - e^(-t/N). *)
Lemma gamma_stays_emerged t : N * ln 2 < t -> 1 / 2 < gamma t.
Proof.
  intros Ht.
  assert (Hl : 0 < ln 2) by by_enclosure.
  assert (H0 : 0 <= t) by nra.
  apply Rlt_le_trans with (2 := gamma_from_below N alpha beta gamma at_least_two flow t H0).
  assert (H : exp (- t / N) < exp (- ln 2)).
  { apply exp_increasing. apply Rmult_lt_reg_r with N; [lra|].
    replace (- t / N * N) with (- t) by (field; lra). lra. }
  rewrite exp_Ropp, exp_ln in H by lra. lra.
Qed.

(* The last parameter to emerge is alpha. From then on the head is there for good. *)
Theorem head_is_present_from_alpha_on (T t : R) :
  emerges_at alpha T -> (head_is_present alpha beta gamma t <-> T <= t) /\
                        (head_has_emerged alpha beta gamma t <-> T < t).
Proof.
  intros HT. pose proof HT as (HT0 & ET & BT).
  pose proof (beta_emerges N alpha beta gamma at_least_two flow) as [Tb [Hb _]].
  pose proof (beta_before_alpha N alpha beta gamma at_least_two flow Tb T Hb HT) as Hba.
  destruct Hb as (Hb0 & Eb & _).
  pose proof (alpha_time_from_below N alpha beta gamma at_least_two flow T HT) as Hlow.
  pose proof gauss_at_1 as [HG _].
  assert (Hl : ln 2 <= 7 / 10) by by_enclosure.
  assert (Hc : N * ln 2 < T) by nra.
  assert (grown : forall u, T < u -> 1 / 2 < alpha u)
    by (intros u Hu; pose proof (alpha_grows N alpha beta gamma at_least_two flow T u); lra).
  assert (others : forall u, T <= u -> 1 / 2 < beta u /\ 1 / 2 < gamma u).
  { intros u Hu. split; [|apply gamma_stays_emerged; lra].
    pose proof (beta_grows N alpha beta gamma at_least_two flow Tb u). lra. }
  split; split.
  - intros (Ht & Ha & _). apply Rnot_lt_le. intros Hlt. specialize (BT t). lra.
  - intros Ht. destruct (others t Ht). repeat split; try lra.
    destruct (Req_dec T t) as [<-|]; [lra|]. specialize (grown t). lra.
  - intros (Ht & Ha & _). apply Rnot_le_lt. intros Hle.
    destruct (Req_dec t T) as [->|]; [lra|]. specialize (BT t). lra.
  - intros Ht. destruct (others t ltac:(lra)). specialize (grown t Ht). repeat split; lra.
Qed.

(* So Definition 3's infimum is T_alpha. With Definition 2's strict signs it is the same number. *)
Theorem icl_when_alpha_emerges (T : R) : emerges_at alpha T ->
  t_icl alpha beta gamma = Finite T /\ Glb_Rbar (head_has_emerged alpha beta gamma) = Finite T.
Proof.
  intros HT. split; apply is_glb_Rbar_unique; split; simpl.
  - intros t Ht. apply head_is_present_from_alpha_on; assumption.
  - intros b Hb. apply Hb, (head_is_present_from_alpha_on T T HT). lra.
  - intros t Ht. apply Rlt_le. apply head_is_present_from_alpha_on; assumption.
  - intros [b| |] Hb; simpl; trivial.
    + apply Rnot_lt_le. intros Hlt. specialize (Hb ((T + b) / 2)). simpl in Hb.
      assert (b <= (T + b) / 2); [|lra].
      apply Hb, (proj2 (head_is_present_from_alpha_on T _ HT)). lra.
    + apply (Hb (T + 1)), (proj2 (head_is_present_from_alpha_on T _ HT)). lra.
Qed.

End ICL.

(* Corollary 1 for every N >= 2, with the exact leading constant. *)
Theorem corollary_1 (N : R) : 2 <= N ->
  exists alpha beta gamma : R -> R, follows_the_flow N alpha beta gamma /\
  exists T : R, t_icl alpha beta gamma = Finite T /\
  2 * gauss 1 * N ^ 2 <= T <= 2 * gauss 1 * N ^ 2 + 11 / 4 * N.
Proof.
  intros HN. destruct (flow_exists N HN) as (alpha & beta & gamma & flow).
  exists alpha, beta, gamma. split; [exact flow|].
  destruct (alpha_emerges N alpha beta gamma HN flow) as [T [HT Hup]].
  exists T. split; [apply (icl_when_alpha_emerges N alpha beta gamma HN flow T HT)|].
  pose proof (alpha_time_from_below N alpha beta gamma HN flow T HT). lra.
Qed.

(* Corollary 1 as Eq. 11 prints it: t_ICL = Theta(N^2), with both constants, for every N >= 2. *)
Theorem icl_takes_order_n_squared : exists c C : R, 0 < c <= C /\
  forall N alpha beta gamma, 2 <= N -> follows_the_flow N alpha beta gamma ->
  Rbar_le (c * N ^ 2) (t_icl alpha beta gamma) /\ Rbar_le (t_icl alpha beta gamma) (C * N ^ 2).
Proof.
  exists (171 / 100), (31 / 10). split; [lra|]. intros N alpha beta gamma HN flow.
  destruct (alpha_emerges N alpha beta gamma HN flow) as [T [HT _]].
  destruct (icl_when_alpha_emerges N alpha beta gamma HN flow T HT) as [-> _].
  pose proof (alpha_time_in_numbers N alpha beta gamma HN flow T HT). simpl in *. lra.
Qed.
