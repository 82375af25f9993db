// Decides which CA signs, which are trusted and what is to be done next, from the Secret of our CA and the state of the
// fleet. Pure: issues and writes nothing.

import type { KeyPair } from './issue-certificate.ts'
import { type CertificatePolicy, isValidAt, renewAtMs } from './policy.ts'
import { type CertificateFacts, readBundle, readPair } from './read-certificate.ts'

/** Text by key, as a Secret has it once decoded. */
export type SecretTexts = Readonly<Record<string, string>>

export interface Authority {
  /** The CA that signs. */
  readonly current: Signer
  /** Trusted already; signs once all peers trust it. */
  readonly next?: Signer
  /** All that are trusted, the two above first. */
  readonly bundle: readonly CertificateFacts[]
}

export interface Signer {
  readonly pair: KeyPair
  readonly facts: CertificateFacts
}

export type AuthorityStep =
  /** None can sign: create a new one, which signs at once. */
  | 'found'
  /** Create the next one, trusted from now on. */
  | 'prepare'
  /** The next one signs from now on. */
  | 'promote'
  /** Old ones are no longer trusted. */
  | 'retire'
  | 'keep'

/** How long each state has lasted without a break for all peers that we know; 0 where it does not hold. */
export interface Settled {
  /** All have the bundle that the Secret of the CA has. */
  readonly bundleMs: number
  /** All show certificates of the current CA. */
  readonly leavesMs: number
}

/** As it stands in the Secret: a CA that is damaged or has expired is left out, others stay trusted. */
export type AuthorityRecord = Omit<Authority, 'current'> & Partial<Pick<Authority, 'current'>>

export const readAuthority = (texts: SecretTexts, nowMs: number): AuthorityRecord => {
  const current = readSigner(texts, 'tls', nowMs)
  const next = readSigner(texts, 'next', nowMs)
  const signers = [current, next].flatMap((signer) => signer?.facts ?? [])
  const trusted = readBundle(text(texts, 'ca.crt')).filter((facts) => isOurs(facts, nowMs))
  const bundle = distinct([...signers, ...trusted])
  return {
    bundle,
    ...(current !== undefined && { current }),
    ...(next !== undefined && { next }),
  }
}

export const authorityTexts = ({ current, next, bundle }: Authority): SecretTexts => ({
  'tls.crt': current.pair.cert,
  'tls.key': current.pair.key,
  ...(next !== undefined && { 'next.crt': next.pair.cert, 'next.key': next.pair.key }),
  'ca.crt': bundleText(bundle),
})

export const bundleText = (bundle: readonly CertificateFacts[]): string =>
  bundle.map(({ pem }) => pem).join('')

export const planAuthority = (
  { current, next, bundle }: AuthorityRecord,
  settled: Settled,
  policy: CertificatePolicy,
  nowMs: number,
): AuthorityStep => {
  if (current === undefined) return next === undefined ? 'found' : 'promote'
  if (next !== undefined) {
    // The life of leaves must not be cut short because one namespace cannot be reached.
    const isLate = current.facts.notAfterMs - nowMs < policy.leafLifeMs
    return isLate || settled.bundleMs >= policy.overlapMs ? 'promote' : 'keep'
  }
  if (nowMs >= renewAtMs(current.facts, policy)) return 'prepare'
  const isOld = bundle.length > 1 && settled.leavesMs >= policy.overlapMs
  return isOld ? 'retire' : 'keep'
}

/** @param fresh called where the step asks for a new CA */
export const takeStep = async (
  record: AuthorityRecord,
  step: AuthorityStep,
  fresh: () => Promise<Signer>,
): Promise<Authority> => {
  const { next, bundle } = record
  if (step === 'found' || record.current === undefined) {
    const current = step === 'promote' && next !== undefined ? next : await fresh()
    return { current, bundle: distinct([current.facts, ...bundle]) }
  }
  const { current } = record
  if (step === 'prepare') {
    const added = await fresh()
    return { current, next: added, bundle: distinct([current.facts, added.facts, ...bundle]) }
  }
  if (step === 'promote' && next !== undefined) {
    return { current: next, bundle: distinct([next.facts, ...bundle]) }
  }
  if (step === 'retire') return { current, bundle: [current.facts] }
  return { current, bundle, ...(next !== undefined && { next }) }
}

const readSigner = (
  texts: SecretTexts,
  name: 'tls' | 'next',
  nowMs: number,
): Signer | undefined => {
  const signer = readPair(text(texts, `${name}.crt`), text(texts, `${name}.key`))
  return signer !== undefined && isOurs(signer.facts, nowMs) ? signer : undefined
}

const OUR_SUBJECT = /^CN=svc-gateway CA [0-9a-f]{8}$/

/** Other CAs may not be trusted, whatever put them there; and our certificates are made for our own form of names. */
const isOurs = (facts: CertificateFacts, nowMs: number): boolean =>
  facts.isAuthority && OUR_SUBJECT.test(facts.x509.subject) && isValidAt(facts, nowMs)

const distinct = (all: readonly CertificateFacts[]): readonly CertificateFacts[] => [
  ...new Map(all.map((facts) => [facts.fingerprint, facts])).values(),
]

const text = (texts: SecretTexts, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined
