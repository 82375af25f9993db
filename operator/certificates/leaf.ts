// Decides whether a certificate in a Secret that our CA has signed may stay, and why not. Pure.

import { type Authority, bundleText, type SecretTexts, type Signer } from './authority.ts'
import {
  issueLeaf,
  type RandomSource,
  type KeyPair,
  type LeafRequest,
} from './issue-certificate.ts'
import { type CertificatePolicy, isValidAt, lifeFrom, madeAtMs, renewAtMs } from './policy.ts'
import { isSignedBy, readPair } from './read-certificate.ts'

export type LeafPurpose = Pick<LeafRequest, 'usage' | 'names'>

export type LeafPlan =
  | { readonly step: 'keep'; readonly leaf: Signer }
  /** The certificate may stay, but the CAs beside it are not the current ones. */
  | { readonly step: 'bundle'; readonly leaf: Signer }
  | { readonly step: 'issue'; readonly reason: string }

interface LeafChecks {
  readonly authority: Authority
  readonly policy: CertificatePolicy
  readonly nowMs: number
}

export const planLeaf = (
  texts: SecretTexts | undefined,
  { names }: LeafPurpose,
  checks: LeafChecks,
): LeafPlan => {
  if (texts === undefined) return { step: 'issue', reason: 'there was none' }
  const leaf = readPair(texts['tls.crt'], texts['tls.key'])
  if (leaf === undefined) return { step: 'issue', reason: 'certificate or key was damaged' }
  const reason = dueBecause(leaf, names, checks)
  if (reason !== undefined) return { step: 'issue', reason }
  const isCurrent = texts['ca.crt'] === bundleText(checks.authority.bundle)
  return { step: isCurrent ? 'keep' : 'bundle', leaf }
}

export const leafTexts = ({ cert, key }: KeyPair, { bundle }: Authority): SecretTexts => ({
  'tls.crt': cert,
  'tls.key': key,
  'ca.crt': bundleText(bundle),
})

export const issueFor = (
  { usage, names }: LeafPurpose,
  { authority, policy, nowMs }: LeafChecks,
  random: RandomSource,
): Promise<KeyPair> => {
  const life = lifeFrom(nowMs, policy.leafLifeMs, policy)
  return issueLeaf(authority.current.pair, { usage, names, life }, random)
}

const dueBecause = (
  { facts }: Signer,
  names: readonly string[],
  { authority, policy, nowMs }: LeafChecks,
): string | undefined => {
  if (facts.names.join() !== [...names].sort().join()) return 'it was for other names'
  if (!isValidAt(facts, nowMs)) return 'it was not valid at this time'
  if (nowMs >= renewAtMs(facts, policy)) return 'it was due for renewal'
  const { current, bundle } = authority
  if (isSignedBy(facts, current.facts)) return undefined
  if (!bundle.some((trusted) => isSignedBy(facts, trusted))) return 'its CA was not ours'
  // Peers may not know the current CA yet, where it had to be made at once.
  const isKnown = nowMs - madeAtMs(current.facts, policy) >= policy.overlapMs
  return isKnown ? 'its CA was replaced' : undefined
}
