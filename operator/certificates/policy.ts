// Defines how long certificates live and when they are due, and computes with it. Pure.

import type { Life } from './issue-certificate.ts'
import type { CertificateFacts } from './read-certificate.ts'

export interface CertificatePolicy {
  /** One year. */
  readonly authorityLifeMs: number
  /** 30 days. */
  readonly leafLifeMs: number
  /** Share of its life after which a certificate is replaced; two thirds. */
  readonly renewAfter: number
  /** How far clocks may be apart: certificates begin this long before they are made; 1 h. */
  readonly skewMs: number
  /**
   * The time until all peers have what was written: a kubelet updates a Secret in its pods within 1 to 2 minutes. A new
   * CA signs only after it, an old one is trusted until after it; 1 h.
   */
  readonly overlapMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const DEFAULT_POLICY: CertificatePolicy = {
  authorityLifeMs: 365 * DAY_MS,
  leafLifeMs: 30 * DAY_MS,
  renewAfter: 2 / 3,
  skewMs: HOUR_MS,
  overlapMs: HOUR_MS,
}

export const lifeFrom = (
  nowMs: number,
  lifeMs: number,
  { skewMs }: Pick<CertificatePolicy, 'skewMs'>,
): Life => ({ notBeforeMs: nowMs - skewMs, notAfterMs: nowMs + lifeMs })

export const isValidAt = (
  { notBeforeMs, notAfterMs }: Pick<CertificateFacts, 'notBeforeMs' | 'notAfterMs'>,
  nowMs: number,
): boolean => notBeforeMs <= nowMs && nowMs < notAfterMs

/** When a certificate was made, by the clock of its maker. */
export const madeAtMs = (
  { notBeforeMs }: Pick<CertificateFacts, 'notBeforeMs'>,
  { skewMs }: Pick<CertificatePolicy, 'skewMs'>,
): number => notBeforeMs + skewMs

/** @example renewAtMs({notBeforeMs: 0, notAfterMs: 90}, {skewMs: 0, renewAfter: 2 / 3}) // 60 */
export const renewAtMs = (
  facts: Pick<CertificateFacts, 'notBeforeMs' | 'notAfterMs'>,
  policy: Pick<CertificatePolicy, 'skewMs' | 'renewAfter'>,
): number => {
  const madeMs = madeAtMs(facts, policy)
  return madeMs + (facts.notAfterMs - madeMs) * policy.renewAfter
}
