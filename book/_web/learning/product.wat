;; The matrix product that learning is made of: C += A B, in numbers of 32 bits, four at a time.
;;
;; All places and strides are in bytes; k is at least 1. The numbers of a row of C lie side by side.
;; `product.wasm` is made of this text, in this folder, by
;;   ../node_modules/.bin/wat2wasm product.wat --output=product.wasm
(module
  (import "page" "memory" (memory 1))

  ;; C (m, n) += A (m, k) B (k, n), where the numbers of a row of B lie side by side.
  ;; A may lie in any way: aRow and aColumn lead to its next row and its next column.
  (func (export "rows")
    (param $m i32) (param $k i32) (param $n i32)
    (param $a i32) (param $aRow i32) (param $aColumn i32)
    (param $b i32) (param $bRow i32) (param $c i32) (param $cRow i32)
    (local $left i32)
    (block $narrow
      (loop $four ;; rows of A and C at once, so that a row of B is read once for all four
        (br_if $narrow (i32.lt_s (local.get $m) (i32.const 4)))
        (local.set $left (call $tiles
          (local.get $k) (local.get $n)
          (local.get $a) (local.get $aRow) (local.get $aColumn)
          (local.get $b) (local.get $bRow) (local.get $c) (local.get $cRow)))
        (call $edge ;; the columns that are left over, less than eight
          (i32.const 4) (local.get $k) (local.get $left)
          (local.get $a) (local.get $aRow) (local.get $aColumn)
          (i32.add (local.get $b) (i32.shl (i32.sub (local.get $n) (local.get $left)) (i32.const 2)))
          (local.get $bRow)
          (i32.add (local.get $c) (i32.shl (i32.sub (local.get $n) (local.get $left)) (i32.const 2)))
          (local.get $cRow))
        (local.set $a (i32.add (local.get $a) (i32.shl (local.get $aRow) (i32.const 2))))
        (local.set $c (i32.add (local.get $c) (i32.shl (local.get $cRow) (i32.const 2))))
        (local.set $m (i32.sub (local.get $m) (i32.const 4)))
        (br $four)))
    (call $edge ;; the rows that are left over, less than four
      (local.get $m) (local.get $k) (local.get $n)
      (local.get $a) (local.get $aRow) (local.get $aColumn)
      (local.get $b) (local.get $bRow) (local.get $c) (local.get $cRow)))

  ;; Four rows of C, eight columns at a time. Returns how many columns are left over.
  (func $tiles
    (param $k i32) (param $n i32)
    (param $a i32) (param $aRow i32) (param $aColumn i32)
    (param $b i32) (param $bRow i32) (param $c i32) (param $cRow i32)
    (result i32)
    (local $i i32) (local $a0 i32) (local $a1 i32) (local $a2 i32) (local $a3 i32) (local $row i32)
    (local $c1 i32) (local $c2 i32) (local $c3 i32)
    (local $left v128) (local $right v128) (local $one v128)
    (local $s00 v128) (local $s01 v128) (local $s10 v128) (local $s11 v128)
    (local $s20 v128) (local $s21 v128) (local $s30 v128) (local $s31 v128)
    (block $done
      (loop $eight
        (br_if $done (i32.lt_s (local.get $n) (i32.const 8)))
        (local.set $c1 (i32.add (local.get $c) (local.get $cRow)))
        (local.set $c2 (i32.add (local.get $c1) (local.get $cRow)))
        (local.set $c3 (i32.add (local.get $c2) (local.get $cRow)))
        (local.set $a0 (local.get $a))
        (local.set $a1 (i32.add (local.get $a0) (local.get $aRow)))
        (local.set $a2 (i32.add (local.get $a1) (local.get $aRow)))
        (local.set $a3 (i32.add (local.get $a2) (local.get $aRow)))
        (local.set $s00 (v128.load (local.get $c)))
        (local.set $s01 (v128.load offset=16 (local.get $c)))
        (local.set $s10 (v128.load (local.get $c1)))
        (local.set $s11 (v128.load offset=16 (local.get $c1)))
        (local.set $s20 (v128.load (local.get $c2)))
        (local.set $s21 (v128.load offset=16 (local.get $c2)))
        (local.set $s30 (v128.load (local.get $c3)))
        (local.set $s31 (v128.load offset=16 (local.get $c3)))
        (local.set $row (local.get $b))
        (local.set $i (local.get $k))
        (loop $sum ;; a row of B times a column of A
          (local.set $left (v128.load (local.get $row)))
          (local.set $right (v128.load offset=16 (local.get $row)))
          (local.set $one (v128.load32_splat (local.get $a0)))
          (local.set $s00 (f32x4.add (local.get $s00) (f32x4.mul (local.get $one) (local.get $left))))
          (local.set $s01 (f32x4.add (local.get $s01) (f32x4.mul (local.get $one) (local.get $right))))
          (local.set $one (v128.load32_splat (local.get $a1)))
          (local.set $s10 (f32x4.add (local.get $s10) (f32x4.mul (local.get $one) (local.get $left))))
          (local.set $s11 (f32x4.add (local.get $s11) (f32x4.mul (local.get $one) (local.get $right))))
          (local.set $one (v128.load32_splat (local.get $a2)))
          (local.set $s20 (f32x4.add (local.get $s20) (f32x4.mul (local.get $one) (local.get $left))))
          (local.set $s21 (f32x4.add (local.get $s21) (f32x4.mul (local.get $one) (local.get $right))))
          (local.set $one (v128.load32_splat (local.get $a3)))
          (local.set $s30 (f32x4.add (local.get $s30) (f32x4.mul (local.get $one) (local.get $left))))
          (local.set $s31 (f32x4.add (local.get $s31) (f32x4.mul (local.get $one) (local.get $right))))
          (local.set $a0 (i32.add (local.get $a0) (local.get $aColumn)))
          (local.set $a1 (i32.add (local.get $a1) (local.get $aColumn)))
          (local.set $a2 (i32.add (local.get $a2) (local.get $aColumn)))
          (local.set $a3 (i32.add (local.get $a3) (local.get $aColumn)))
          (local.set $row (i32.add (local.get $row) (local.get $bRow)))
          (br_if $sum (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
        (v128.store (local.get $c) (local.get $s00))
        (v128.store offset=16 (local.get $c) (local.get $s01))
        (v128.store (local.get $c1) (local.get $s10))
        (v128.store offset=16 (local.get $c1) (local.get $s11))
        (v128.store (local.get $c2) (local.get $s20))
        (v128.store offset=16 (local.get $c2) (local.get $s21))
        (v128.store (local.get $c3) (local.get $s30))
        (v128.store offset=16 (local.get $c3) (local.get $s31))
        (local.set $b (i32.add (local.get $b) (i32.const 32)))
        (local.set $c (i32.add (local.get $c) (i32.const 32)))
        (local.set $n (i32.sub (local.get $n) (i32.const 8)))
        (br $eight)))
    (local.get $n))

  ;; What the tiles leave over, a row at a time: four columns at once, then one.
  (func $edge
    (param $m i32) (param $k i32) (param $n i32)
    (param $a i32) (param $aRow i32) (param $aColumn i32)
    (param $b i32) (param $bRow i32) (param $c i32) (param $cRow i32)
    (local $i i32) (local $j i32) (local $one i32) (local $row i32)
    (local $four v128) (local $sum f32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $m)))
        (local.set $j (i32.const 0)) ;; the column, in bytes
        (block $end
          (loop $columns
            (br_if $end (i32.ge_s (local.get $j) (i32.shl (local.get $n) (i32.const 2))))
            (local.set $one (local.get $a))
            (local.set $row (i32.add (local.get $b) (local.get $j)))
            (local.set $i (local.get $k))
            (if (i32.le_s
                (i32.add (local.get $j) (i32.const 16)) (i32.shl (local.get $n) (i32.const 2)))
              (then
                (local.set $four (v128.load (i32.add (local.get $c) (local.get $j))))
                (loop $sum4
                  (local.set $four (f32x4.add (local.get $four)
                    (f32x4.mul (v128.load32_splat (local.get $one)) (v128.load (local.get $row)))))
                  (local.set $one (i32.add (local.get $one) (local.get $aColumn)))
                  (local.set $row (i32.add (local.get $row) (local.get $bRow)))
                  (br_if $sum4 (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
                (v128.store (i32.add (local.get $c) (local.get $j)) (local.get $four))
                (local.set $j (i32.add (local.get $j) (i32.const 16))))
              (else
                (local.set $sum (f32.load (i32.add (local.get $c) (local.get $j))))
                (loop $sum1
                  (local.set $sum (f32.add (local.get $sum)
                    (f32.mul (f32.load (local.get $one)) (f32.load (local.get $row)))))
                  (local.set $one (i32.add (local.get $one) (local.get $aColumn)))
                  (local.set $row (i32.add (local.get $row) (local.get $bRow)))
                  (br_if $sum1 (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
                (f32.store (i32.add (local.get $c) (local.get $j)) (local.get $sum))
                (local.set $j (i32.add (local.get $j) (i32.const 4)))))
            (br $columns)))
        (local.set $a (i32.add (local.get $a) (local.get $aRow)))
        (local.set $c (i32.add (local.get $c) (local.get $cRow)))
        (local.set $m (i32.sub (local.get $m) (i32.const 1)))
        (br $next))))

  ;; C (m, n) += A (m, k) Bᵀ, where B is (n, k) and the numbers of a row of A and of B lie side by
  ;; side: dot products, four numbers of k at a time.
  (func (export "dots")
    (param $m i32) (param $k i32) (param $n i32)
    (param $a i32) (param $aRow i32)
    (param $b i32) (param $bRow i32) (param $c i32) (param $cRow i32)
    (local $j i32) (local $row i32) (local $to i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $m)))
        (local.set $j (local.get $n))
        (local.set $row (local.get $b))
        (local.set $to (local.get $c))
        (block $end
          (loop $four ;; rows of B at once
            (br_if $end (i32.lt_s (local.get $j) (i32.const 4)))
            (v128.store (local.get $to) (f32x4.add (v128.load (local.get $to))
              (call $dot4 (local.get $k) (local.get $a) (local.get $row) (local.get $bRow))))
            (local.set $row (i32.add (local.get $row) (i32.shl (local.get $bRow) (i32.const 2))))
            (local.set $to (i32.add (local.get $to) (i32.const 16)))
            (local.set $j (i32.sub (local.get $j) (i32.const 4)))
            (br $four)))
        (block $end
          (loop $one ;; the rows of B that are left over
            (br_if $end (i32.eqz (local.get $j)))
            (f32.store (local.get $to) (f32.add (f32.load (local.get $to)) (f32x4.extract_lane 0
              (call $dot4 (local.get $k) (local.get $a) (local.get $row) (i32.const 0)))))
            (local.set $row (i32.add (local.get $row) (local.get $bRow)))
            (local.set $to (i32.add (local.get $to) (i32.const 4)))
            (local.set $j (i32.sub (local.get $j) (i32.const 1)))
            (br $one)))
        (local.set $a (i32.add (local.get $a) (local.get $aRow)))
        (local.set $c (i32.add (local.get $c) (local.get $cRow)))
        (local.set $m (i32.sub (local.get $m) (i32.const 1)))
        (br $next))))

  ;; The dot products of a row of A with four rows of B, side by side.
  (func $dot4 (param $k i32) (param $a i32) (param $b0 i32) (param $bRow i32) (result v128)
    (local $b1 i32) (local $b2 i32) (local $b3 i32)
    (local $left v128) (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $low v128) (local $high v128) (local $sum v128)
    (local.set $b1 (i32.add (local.get $b0) (local.get $bRow)))
    (local.set $b2 (i32.add (local.get $b1) (local.get $bRow)))
    (local.set $b3 (i32.add (local.get $b2) (local.get $bRow)))
    (block $end
      (loop $four
        (br_if $end (i32.lt_s (local.get $k) (i32.const 4)))
        (local.set $left (v128.load (local.get $a)))
        (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $left) (v128.load (local.get $b0)))))
        (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $left) (v128.load (local.get $b1)))))
        (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $left) (v128.load (local.get $b2)))))
        (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $left) (v128.load (local.get $b3)))))
        (local.set $a (i32.add (local.get $a) (i32.const 16)))
        (local.set $b0 (i32.add (local.get $b0) (i32.const 16)))
        (local.set $b1 (i32.add (local.get $b1) (i32.const 16)))
        (local.set $b2 (i32.add (local.get $b2) (i32.const 16)))
        (local.set $b3 (i32.add (local.get $b3) (i32.const 16)))
        (local.set $k (i32.sub (local.get $k) (i32.const 4)))
        (br $four)))
    ;; four sums of four: turn the table, and add its rows
    (local.set $low (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
      (local.get $s0) (local.get $s1)))
    (local.set $high (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
      (local.get $s0) (local.get $s1)))
    (local.set $s0 (f32x4.add (local.get $low) (local.get $high))) ;; 0 1 0 1
    (local.set $low (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
      (local.get $s2) (local.get $s3)))
    (local.set $high (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
      (local.get $s2) (local.get $s3)))
    (local.set $s2 (f32x4.add (local.get $low) (local.get $high))) ;; 2 3 2 3
    (local.set $sum (f32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $s0) (local.get $s2))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
        (local.get $s0) (local.get $s2))))
    (block $end
      (loop $one ;; the numbers of k that are left over
        (br_if $end (i32.eqz (local.get $k)))
        (local.set $left (v128.load32_splat (local.get $a)))
        (local.set $low (v128.load32_splat (local.get $b0)))
        (local.set $low (f32x4.replace_lane 1 (local.get $low) (f32.load (local.get $b1))))
        (local.set $low (f32x4.replace_lane 2 (local.get $low) (f32.load (local.get $b2))))
        (local.set $low (f32x4.replace_lane 3 (local.get $low) (f32.load (local.get $b3))))
        (local.set $sum (f32x4.add (local.get $sum) (f32x4.mul (local.get $left) (local.get $low))))
        (local.set $a (i32.add (local.get $a) (i32.const 4)))
        (local.set $b0 (i32.add (local.get $b0) (i32.const 4)))
        (local.set $b1 (i32.add (local.get $b1) (i32.const 4)))
        (local.set $b2 (i32.add (local.get $b2) (i32.const 4)))
        (local.set $b3 (i32.add (local.get $b3) (i32.const 4)))
        (local.set $k (i32.sub (local.get $k) (i32.const 1)))
        (br $one)))
    (local.get $sum)))
