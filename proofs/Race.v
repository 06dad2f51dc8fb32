(* The clock against A(beta): beta grows neither faster nor slower than the exact constants say. *)

Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Emergence Require Import Arithmetic Calculus Model Flow Speeds Order Gauss Clock.
Open Scope R_scope.

Section Race.

Variables (N : R) (alpha beta gamma : R -> R).
Hypothesis at_least_two : 2 <= N.
Hypothesis flow : follows_the_flow N alpha beta gamma.

Notation speed t :=
  (speed_of_exponent N (alpha t) (beta t) (gamma t) * retrieval N (alpha t)).

Lemma clock_moves : moves (clock N) (fun t => 1 - exp (- t / N)).
Proof.
  intros t Ht. unfold clock.
  refine (derivative_written_otherwise _ _ _ _
    (is_derive_minus (fun t => t) (fun t => N * (1 - exp (- t / N))) t _ _ (is_derive_id t)
       (is_derive_scal _ _ N _ (start_moves N t Ht))) _).
  unfold minus, plus, opp, one; simpl. field. lra.
Qed.

Lemma clock_at_0 : clock N 0 = 0.
Proof. unfold clock. replace (- 0 / N) with 0 by (field; lra). rewrite exp_0. ring. Qed.

Lemma gauss_of_beta_moves : moves (fun t => gauss (beta t)) (fun t => exp (- beta t ^ 2 / 2) * speed t).
Proof.
  intros t Ht.
  refine (derivative_written_otherwise _ _ _ _
    (is_derive_comp gauss beta t _ _ (gauss_by_x (beta t))
       (speed_of_beta N alpha beta gamma at_least_two flow t Ht)) _).
  unfold scal; simpl; unfold mult; simpl. ring.
Qed.

(* Until alpha emerges, e^-alpha lies below a line in e^(- beta^2 / 2). *)
Lemma alpha_from_below t : 0 <= t -> alpha t <= 1 / 2 ->
  (2 * N - 2) * exp (- alpha t)
  <= (2 * N - 2) * exp (- beta t ^ 2 / 2) + 5 / 4 * (1 - exp (- beta t ^ 2 / 2)).
Proof.
  intros Ht Ha.
  pose proof (first_integral N alpha beta gamma at_least_two flow t Ht) as I.
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow t Ht) as [Ha0 _].
  assert (HA : exp (alpha t) <= 16488 / 10000)
    by (apply Rle_trans with (exp (1 / 2)); [apply exponential_grows, Ha|by_enclosure]).
  assert (HA1 : 1 <= exp (alpha t)) by (pose proof (exp_ineq1_le (alpha t)); lra).
  set (y := (exp (alpha t) - 1) / (2 * N - 2)).
  assert (Hy : 0 <= y <= 3244 / 10000).
  { unfold y. split; [apply Rdiv_le_0_compat; lra|apply Rle_div_l; lra]. }
  assert (E : - alpha t = - beta t ^ 2 / 2 + y).
  { unfold y. apply Rmult_eq_reg_l with (2 * N - 2); [|lra].
    replace ((2 * N - 2) * (- beta t ^ 2 / 2 + (exp (alpha t) - 1) / (2 * N - 2)))
      with (- ((N - 1) * beta t ^ 2) + (exp (alpha t) - 1)) by (field; lra). lra. }
  assert (Hab : exp (- beta t ^ 2 / 2) <= exp (- alpha t)) by (apply exponential_grows; lra).
  assert (Hone : exp (alpha t) * exp (- alpha t) = 1).
  { rewrite <- exp_plus. replace (alpha t + - alpha t) with 0 by ring. apply exp_0. }
  pose proof (exponential_below_a_line y Hy) as Hline.
  pose proof (exp_pos (- beta t ^ 2 / 2)) as Hpos.
  set (e := exp (- beta t ^ 2 / 2)) in *.
  assert (H1 : exp (- alpha t) <= e * (1 + 5 / 4 * y)).
  { rewrite E, exp_plus. fold e. apply Rmult_le_compat_l; lra. }
  assert (H2 : (2 * N - 2) * (e * y) = e * (exp (alpha t) - 1)) by (unfold y; field; lra).
  assert (H3 : e * (exp (alpha t) - 1) <= 1 - e) by nra.
  apply Rle_trans with ((2 * N - 2) * (e * (1 + 5 / 4 * y))); [apply Rmult_le_compat_l; lra|]. lra.
Qed.

(* beta is not slower: the clock never outruns 2 N^2 upper(beta) until alpha emerges. *)
Lemma beta_keeps_up t : 0 <= t -> alpha t <= 1 / 2 -> clock N t <= 2 * N ^ 2 * upper N (beta t).
Proof.
  intros Ht Ha.
  assert (H : 2 * N ^ 2 * upper N (beta 0) - clock N 0 <= 2 * N ^ 2 * upper N (beta t) - clock N t).
  { apply (grows_where_the_speed_is_not_negative (fun u => 2 * N ^ 2 * upper N (beta u) - clock N u)
      (fun u => 2 * N ^ 2 / (2 * N - 1) * speed u
                * (9 / 4 + (2 * N - 13 / 4) * exp (- beta u ^ 2 / 2)) - (1 - exp (- u / N)))); [|lra|].
    - intros u Hu. apply (is_derive_minus (fun u => 2 * N ^ 2 * upper N (beta u)) (clock N));
        [|apply clock_moves, Hu].
      pose proof (gauss_of_beta_moves u Hu) as Dg.
      pose proof (speed_of_beta N alpha beta gamma at_least_two flow u Hu) as Db. cbv beta in Dg, Db.
      unfold upper. set (G := fun t => gauss (beta t)) in Dg.
      change (is_derive (fun u => 2 * N ^ 2 * ((9 / 4 * beta u + (2 * N - 13 / 4) * G u) / (2 * N - 1))) u
        (2 * N ^ 2 / (2 * N - 1) * speed u * (9 / 4 + (2 * N - 13 / 4) * exp (- beta u ^ 2 / 2)))).
      clearbody G. set (e := exp (- beta u ^ 2 / 2)) in *. clearbody e.
      auto_derive; [repeat split; eexists; eassumption|].
      rewrite (derivative_is _ _ _ Dg), (derivative_is _ _ _ Db). field. lra.
    - intros u Hu.
      assert (Hau : alpha u <= 1 / 2)
        by (pose proof (alpha_grows N alpha beta gamma at_least_two flow u t); lra).
      pose proof (beta_speed_from_below N alpha beta gamma at_least_two flow u ltac:(lra) Hau) as Hs.
      pose proof (alpha_from_below u ltac:(lra) Hau) as He.
      pose proof (start_is_fast N at_least_two u ltac:(lra)) as Hd.
      destruct (attention_is_between_0_and_1 N alpha beta at_least_two u) as (_ & _ & _ & Hg).
      set (d := 1 - exp (- u / N)) in *. set (e := exp (- beta u ^ 2 / 2)) in *.
      set (W := 9 / 4 + (2 * N - 13 / 4) * e).
      (* 1 / g = 1 + (2N - 2) e^-alpha <= W *)
      assert (Hinv : 1 = retrieval N (alpha u) * (1 + (2 * N - 2) * exp (- alpha u))).
      { unfold retrieval. rewrite exp_Ropp. pose proof (exp_pos (alpha u)). field. lra. }
      assert (HgW : 1 <= retrieval N (alpha u) * W).
      { rewrite Hinv at 1. apply Rmult_le_compat_l; [lra|]. unfold W. lra. }
      assert (HW : 0 < W) by nra.
      apply Rle_trans with (2 * N ^ 2 / (2 * N - 1) * ((2 * N - 1) * retrieval N (alpha u) * d / (2 * N ^ 2)) * W - d).
      + replace (2 * N ^ 2 / (2 * N - 1) * ((2 * N - 1) * retrieval N (alpha u) * d / (2 * N ^ 2)) * W)
          with (d * (retrieval N (alpha u) * W)) by (field; lra). nra.
      + apply Rplus_le_compat_r, Rmult_le_compat_r; [lra|].
        apply Rmult_le_compat_l; [apply Rdiv_le_0_compat; nra|exact Hs]. }
  rewrite clock_at_0 in H. destruct flow as (_ & B0 & _).
  unfold upper at 1 in H. rewrite B0, gauss_at_0 in H.
  replace (2 * N ^ 2 * ((9 / 4 * 0 + (2 * N - 13 / 4) * 0) / (2 * N - 1))) with 0 in H by (field; lra). lra.
Qed.

(* While beta <= 1 its speed is at most e^(beta^2/2) / (1 - 23 beta / 20 N) / 2 N^2, and the clock's. *)
Lemma beta_speed_in_beta t : 0 <= t -> beta t <= 1 ->
  2 * N ^ 2 * (exp (- beta t ^ 2 / 2) * (1 - 23 / 20 / N * beta t) * speed t) <= 1 - exp (- t / N).
Proof.
  intros Ht Hb1.
  pose proof (beta_speed_from_above N alpha beta gamma at_least_two flow t Ht) as Hs.
  pose proof (alpha_from_above N alpha beta gamma at_least_two flow t Ht) as Ha.
  destruct (alpha_and_beta_are_not_negative N alpha beta gamma at_least_two flow t Ht) as [Ha0 Hb0].
  pose proof (start_is_fast N at_least_two t Ht) as Hd.
  destruct (attention_is_between_0_and_1 N alpha beta at_least_two t) as (Hp & _ & _ & Hg).
  set (d := 1 - exp (- t / N)) in *. clearbody d.
  set (b := beta t) in *. set (y := 1 / N).
  assert (Hy : 0 < y <= 1 / 2) by (unfold y; split; [apply Rdiv_lt_0_compat; lra|apply Rle_div_l; lra]).
  set (A := b ^ 2 * (1 - y) / (2 - y)).
  assert (HA : alpha t <= A).
  { unfold A, y. replace (b ^ 2 * (1 - 1 / N) / (2 - 1 / N)) with ((N - 1) * b ^ 2 / (2 * N - 1)) by (field; lra).
    apply Rle_div_r; lra. }
  assert (HA0 : 0 <= A) by lra.
  set (a := exp A). assert (Ha1 : 1 + A <= a) by apply exp_ineq1_le.
  assert (Ha2 : A * (1 + A / 2) <= a - 1).
  { assert (H : exp 0 - (1 + 0 + 0 * 0 / 2) <= exp A - (1 + A + A * A / 2)).
    { apply (grows_where_the_speed_is_not_negative (fun x => exp x - (1 + x + x * x / 2))
        (fun x => exp x - (1 + x))); [|lra|].
      - intros u _. auto_derive; [trivial|]. field.
      - intros u _. pose proof (exp_ineq1_le u). lra. }
    rewrite exp_0 in H. fold a in H. lra. }
  set (w := (a - 1) * y / (2 - y)).
  assert (Hw0 : 0 <= w) by (unfold w; apply Rdiv_le_0_compat; nra).
  (* q is (2N - 1) g for the largest alpha *)
  set (q := a / (1 + w)).
  assert (Hgq : (2 * N - 1) * retrieval N (alpha t) <= q).
  { unfold q, w, y. replace (a / (1 + (a - 1) * (1 / N) / (2 - 1 / N)))
      with ((2 * N - 1) * (a / (a + 2 * N - 2))).
    - apply Rmult_le_compat_l; [lra|]. unfold retrieval.
      pose proof (exp_pos (alpha t)). pose proof (exponential_grows _ _ HA) as HeA. fold a in HeA.
      apply Rle_div_l; [lra|].
      replace (a / (a + 2 * N - 2) * (exp (alpha t) + 2 * N - 2))
        with (a * (exp (alpha t) + 2 * N - 2) / (a + 2 * N - 2)) by (field; lra).
      apply Rle_div_r; nra.
    - field. repeat split; lra. }
  assert (Hq : q <= exp (A - w + w * w / 2)).
  { unfold q. apply Rle_div_l; [lra|]. unfold Rminus. rewrite Rplus_assoc, exp_plus. fold a.
    pose proof (logarithm_from_below w Hw0) as L.
    assert (E : exp (- w + w * w / 2) * exp (w - w * w / 2) = 1).
    { rewrite <- exp_plus. replace (- w + w * w / 2 + (w - w * w / 2)) with 0 by field. apply exp_0. }
    pose proof (exp_pos (- w + w * w / 2)). rewrite Rmult_assoc.
    rewrite <- (Rmult_1_r a) at 1. apply Rmult_le_compat_l; [lra|].
    rewrite <- E. apply Rmult_le_compat_l; lra. }
  (* p (1 - p) s <= (2N - 1) e^(x (2 - 1/N)) / 4 N^2, where s = e^x *)
  set (x := b * retrieval N (alpha t)).
  assert (Hx : x * (2 - y) <= b * y * q).
  { unfold x, y. replace (b * retrieval N (alpha t) * (2 - 1 / N))
      with (b * (1 / N) * ((2 * N - 1) * retrieval N (alpha t))) by (field; lra).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|unfold y in Hy; lra]|exact Hgq]. }
  assert (Hps : target N (alpha t) b * (1 - target N (alpha t) b) * signal N (alpha t) b
                <= (2 * N - 1) / (4 * N ^ 2) * exp (x * (2 - y))).
  { unfold target. change (signal N (alpha t) b) with (exp x).
    pose proof (exp_pos x) as Hx0.
    assert (Hjensen : exp (x / (2 * N)) * (2 * N) <= exp x + 2 * N - 1).
    { set (z := x / (2 * N)).
      assert (E1 : exp x = exp z * exp (x - z)) by (rewrite <- exp_plus; f_equal; ring).
      assert (E2 : 1 = exp z * exp (- z)) by (rewrite <- exp_plus; replace (z + - z) with 0 by ring; now rewrite exp_0).
      pose proof (exp_ineq1_le (x - z)). pose proof (exp_ineq1_le (- z)). pose proof (exp_pos z).
      assert (E3 : x = 2 * N * z) by (unfold z; field; lra).
      replace (exp x + 2 * N - 1) with (exp x + (2 * N - 1) * 1) by ring.
      replace ((2 * N - 1) * 1) with ((2 * N - 1) * (exp z * exp (- z))) by (rewrite <- E2; ring). rewrite E1.
      replace (exp z * exp (x - z) + (2 * N - 1) * (exp z * exp (- z)))
        with (exp z * (exp (x - z) + (2 * N - 1) * exp (- z))) by ring.
      apply Rmult_le_compat_l; [lra|]. nra. }
    assert (Hz : 0 < exp (x / (2 * N))) by apply exp_pos.
    assert (Hsq : exp x * exp x = exp (x * (2 - y)) * exp (x / (2 * N)) ^ 2).
    { simpl. rewrite Rmult_1_r, <- !exp_plus. f_equal. unfold y. field. lra. }
    replace (exp x / (exp x + 2 * N - 1) * (1 - exp x / (exp x + 2 * N - 1)) * exp x)
      with ((2 * N - 1) * (exp x * exp x) / (exp x + 2 * N - 1) ^ 2) by (field; lra).
    rewrite Hsq. apply Rle_div_l; [apply pow_lt; lra|].
    assert (H2 : (exp (x / (2 * N)) * (2 * N)) ^ 2 <= (exp x + 2 * N - 1) ^ 2)
      by (apply pow_incr; split; [nra|exact Hjensen]).
    replace ((2 * N - 1) * (exp (x * (2 - y)) * exp (x / (2 * N)) ^ 2))
      with ((2 * N - 1) / (4 * N ^ 2) * exp (x * (2 - y)) * (exp (x / (2 * N)) * (2 * N)) ^ 2) by (field; lra).
    apply Rmult_le_compat_l; [|exact H2].
    apply Rmult_le_pos; [apply Rdiv_le_0_compat; nra|left; apply exp_pos]. }
  (* all exponents together are at most 23/20 b y *)
  assert (Hexp : A - w + w * w / 2 - b ^ 2 / 2 + b * y * q - 23 / 20 * (b * y) <= 0).
  { pose proof (speed_on_the_box b y ltac:(lra) ltac:(lra)) as B. cbv zeta in B.
    fold A in B. fold a in B. fold w in B. fold q in B.
    assert (Hw : y / (2 - y) * (A * (1 + A / 2)) <= w).
    { unfold w. replace ((a - 1) * y / (2 - y)) with (y / (2 - y) * (a - 1)) by (field; lra).
      apply Rmult_le_compat_l; [apply Rdiv_le_0_compat; lra|exact Ha2]. }
    assert (HA2 : A <= 1 / 2).
    { unfold A. apply Rle_div_l; [lra|]. assert (b ^ 2 <= 1) by nra. nra. }
    assert (Ha3 : a <= 165 / 100)
      by (apply Rle_trans with (exp (1 / 2)); [apply exponential_grows, HA2|by_enclosure]).
    assert (Hw1 : w <= 1).
    { unfold w. apply Rle_div_l; nra. }
    assert (K : y / (2 - y) * (A * (1 + A / 2)) * (1 - w / 2) <= w * (1 - w / 2))
      by (apply Rmult_le_compat_r; lra).
    assert (Hby : 0 <= b * y) by (apply Rmult_le_pos; lra).
    apply (Rmult_le_compat_l _ _ _ Hby) in B.
    replace (b * y * (q - b / (2 * (2 - y)) - b * (1 - y) / (2 - y) ^ 2 * (1 + A / 2) * (1 - (a - 1) * y / (2 * (2 - y)))))
      with (b * y * q + (A - b ^ 2 / 2) - y / (2 - y) * (A * (1 + A / 2)) * (1 - w / 2)) in B.
    2: { unfold w. unfold A at 1 2. field. lra. }
    lra. }
  assert (Hz : 0 <= 23 / 20 * (b * y) < 1) by (split; nra).
  assert (Hline : 1 - 23 / 20 * (b * y) <= exp (- (23 / 20 * (b * y))))
    by (pose proof (exp_ineq1_le (- (23 / 20 * (b * y)))); lra).
  assert (Hprod : exp (- b ^ 2 / 2) * (1 - 23 / 20 * (b * y))
                  * (q * exp (b * y * q)) <= 1).
  { apply Rle_trans with (exp (- b ^ 2 / 2) * exp (- (23 / 20 * (b * y)))
      * (exp (A - w + w * w / 2) * exp (b * y * q))).
    - assert (0 <= q) by (unfold q; apply Rdiv_le_0_compat; lra).
      pose proof (exp_pos (b * y * q)). pose proof (exp_pos (- b ^ 2 / 2)).
      apply Rmult_le_compat.
      + apply Rmult_le_pos; lra.
      + apply Rmult_le_pos; lra.
      + apply Rmult_le_compat_l; lra.
      + apply Rmult_le_compat_r; lra.
    - rewrite <- !exp_plus. rewrite <- exp_0. apply exponential_grows. lra. }
  replace (1 - 23 / 20 / N * b) with (1 - 23 / 20 * (b * y)) by (unfold y; field; lra).
  set (E := exp (- b ^ 2 / 2) * (1 - 23 / 20 * (b * y))) in *.
  assert (HE : 0 <= E) by (unfold E; apply Rmult_le_pos; [left; apply exp_pos|lra]).
  apply Rle_trans with (E * (q * exp (b * y * q)) * d); [|nra].
  set (v := speed_of_exponent N (alpha t) b (gamma t) * retrieval N (alpha t)) in *.
  apply Rle_trans with (E * (2 * N ^ 2 * v)); [right; ring|].
  rewrite (Rmult_assoc E). apply Rmult_le_compat_l; [exact HE|].
  apply Rle_trans with (2 * N ^ 2 * (2 * ((2 * N - 1) / (4 * N ^ 2) * exp (x * (2 - y))) * retrieval N (alpha t) * d)).
  - apply Rmult_le_compat_l; [nra|]. apply Rle_trans with (1 := Hs). fold b.
    replace (2 * target N (alpha t) b * (1 - target N (alpha t) b) * retrieval N (alpha t) * (signal N (alpha t) b * d))
      with (2 * (target N (alpha t) b * (1 - target N (alpha t) b) * signal N (alpha t) b) * retrieval N (alpha t) * d) by ring.
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. lra.
  - replace (2 * N ^ 2 * (2 * ((2 * N - 1) / (4 * N ^ 2) * exp (x * (2 - y))) * retrieval N (alpha t) * d))
      with ((2 * N - 1) * retrieval N (alpha t) * exp (x * (2 - y)) * d) by (field; lra).
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat.
    + apply Rmult_le_pos; lra.
    + left; apply exp_pos.
    + exact Hgq.
    + apply exponential_grows, Hx.
Qed.

(* beta is not faster: A(beta), less a term in 1/N, never outruns the clock while beta <= 1. *)
Lemma beta_does_not_outrun t : 0 <= t -> beta t <= 1 ->
  2 * N ^ 2 * (gauss (beta t) - 23 / 20 / N * (1 - exp (- beta t ^ 2 / 2))) <= clock N t.
Proof.
  intros Ht Hb.
  assert (H : clock N 0 - 2 * N ^ 2 * (gauss (beta 0) - 23 / 20 / N * (1 - exp (- beta 0 ^ 2 / 2)))
           <= clock N t - 2 * N ^ 2 * (gauss (beta t) - 23 / 20 / N * (1 - exp (- beta t ^ 2 / 2)))).
  { apply (grows_where_the_speed_is_not_negative
      (fun u => clock N u - 2 * N ^ 2 * (gauss (beta u) - 23 / 20 / N * (1 - exp (- beta u ^ 2 / 2))))
      (fun u => 1 - exp (- u / N)
                - 2 * N ^ 2 * (exp (- beta u ^ 2 / 2) * (1 - 23 / 20 / N * beta u) * speed u))); [|lra|].
    - intros u Hu. apply (is_derive_minus (clock N)); [apply clock_moves, Hu|].
      pose proof (gauss_of_beta_moves u Hu) as Dg.
      pose proof (speed_of_beta N alpha beta gamma at_least_two flow u Hu) as Db. cbv beta in Dg, Db.
      assert (De : is_derive (fun u : R => exp (- beta u ^ 2 / 2)) u
                     (- beta u * speed u * exp (- beta u ^ 2 / 2))).
      { set (v := speed u) in *. clearbody v. auto_derive; [eexists; eassumption|].
        rewrite (derivative_is _ _ _ Db).
        replace (- (beta u * (beta u * 1)) * / 2) with (- beta u ^ 2 / 2) by (unfold Rdiv; ring). field. }
      set (G := fun t : R => gauss (beta t)). set (E := fun u : R => exp (- beta u ^ 2 / 2)).
      change (is_derive G u (E u * speed u)) in Dg. change (is_derive E u (- beta u * speed u * E u)) in De.
      change (is_derive (fun u => 2 * N ^ 2 * (G u - 23 / 20 / N * (1 - E u))) u
        (2 * N ^ 2 * (E u * (1 - 23 / 20 / N * beta u) * speed u))).
      set (v := speed u) in *. clearbody G E v.
      auto_derive; [repeat split; eexists; eassumption|].
      rewrite (derivative_is _ _ _ Dg), (derivative_is _ _ _ De). field. lra.
    - intros u Hu.
      assert (Hbu : beta u <= 1) by (pose proof (beta_grows N alpha beta gamma at_least_two flow u t); lra).
      pose proof (beta_speed_in_beta u ltac:(lra) Hbu). lra. }
  rewrite clock_at_0 in H. destruct flow as (_ & B0 & _). rewrite B0, gauss_at_0 in H.
  replace (- 0 ^ 2 / 2) with 0 in H by (field; lra). rewrite exp_0 in H. lra.
Qed.

End Race.
