(* Numbers such as e^(1/2), enclosed by interval arithmetic that rests on no axiom of its own.

   The library Interval computes with the processor's floats by default, and takes their behaviour
   as axioms. Here it computes with Coq's own integers, so that `Print Assumptions` shows nothing
   but the reals. *)

Require Import Reals.
From Interval.Float Require Import Specific_stdz Specific_ops.
From Interval Require Import Tactic.

Module IntegerFloats := SpecificFloat StdZRadix2.
Module Enclosures := Tactic.IntervalTactic IntegerFloats.
Import Enclosures.

Ltac by_enclosure := interval with (i_prec 30).
Ltac by_enclosed_integral := integral with (i_prec 30).
