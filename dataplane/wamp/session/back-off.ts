// Defines the back-off between two attempts at a router.

import type { BackOff } from '../../../base/back-off.ts'

const FIRST_MS = 100

/** @param longestMs the longest wait, also the first where it is shorter than 100 ms */
export const routerBackOff = (longestMs: number): BackOff => ({
  firstMs: FIRST_MS,
  capMs: longestMs,
})
