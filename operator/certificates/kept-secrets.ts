// The Secrets of certificates as they should be: each is read, judged, and where something is due written
// anew. Asks before each write whether this operator may; logs what it made, never what is in it.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { KubernetesApi, ObjectName } from '../kubernetes/client/api.ts'
import {
  type Authority,
  type AuthorityStep,
  authorityTexts,
  planAuthority,
  readAuthority,
  type SecretTexts,
  type Settled,
  type Signer,
  takeStep,
} from './authority.ts'
import { CertificateError } from './certificate-error.ts'
import { type Chance, issueAuthority } from './issue-certificate.ts'
import { issueFor, type LeafPurpose, leafTexts, planLeaf } from './leaf.ts'
import { type CertificatePolicy, lifeFrom } from './policy.ts'
import { readPair } from './read-certificate.ts'
import { updateSecret } from './secret-store.ts'

export interface Workshop {
  readonly api: KubernetesApi
  /** The operator's namespace: what it makes carries this name. */
  readonly owner: string
  /** The operator's own: named where it is not allowed something. */
  readonly serviceAccount: string
  readonly policy: CertificatePolicy
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  /** Asked right before each write; false: nothing is written any more. */
  readonly mayWrite: () => boolean
}

/** @throws ApiError, CertificateError */
export const keepAuthority = async (
  workshop: Workshop,
  name: ObjectName,
  settled: Settled,
): Promise<Authority> => {
  const { policy, clock, log } = workshop
  const done = { step: 'keep' as AuthorityStep }
  const texts = await updateSecret(workshop.api, {
    ...{ name, owner: workshop.owner, type: 'Opaque' },
    decide: async (known) => {
      const record = readAuthority(known ?? {}, clock.now())
      const step = planAuthority(record, settled, policy, clock.now())
      done.step = step
      const next = authorityTexts(await takeStep(record, step, () => newSigner(workshop)))
      if (known !== undefined && isSame(known, next)) return undefined
      return whileLeading(workshop, next)
    },
  })
  const authority = readAuthority(texts, clock.now())
  const { current, bundle } = authority
  if (current === undefined) throw new Error(`Secret ${name.name} holds no CA that could sign`)
  const { fingerprint, notAfterMs } = current.facts
  const until = new Date(notAfterMs).toISOString()
  const fields = { step: done.step, fingerprint, until, trusted: bundle.length, ...fieldsOf(name) }
  if (done.step === 'keep') log.debug('the CA stays', fields)
  else log.info('the CA of the gateways moves on', fields)
  return { ...authority, current }
}

export interface KeptLeaf extends Signer {
  /** PEM, as it stands beside the certificate. */
  readonly bundle: string
}

/** @throws ApiError, CertificateError */
export const keepLeaf = async (
  workshop: Workshop,
  name: ObjectName,
  purpose: LeafPurpose,
  authority: Authority,
): Promise<KeptLeaf> => {
  const { policy, clock, chance, log } = workshop
  let reason: string | undefined
  const texts = await updateSecret(workshop.api, {
    ...{ name, owner: workshop.owner, type: 'kubernetes.io/tls' },
    decide: async (known) => {
      const judging = { authority, policy, nowMs: clock.now() }
      const plan = planLeaf(known, purpose, judging)
      reason = plan.step === 'issue' ? plan.reason : undefined
      if (plan.step === 'keep') return undefined
      const pair = plan.step === 'issue' ? await issueFor(purpose, judging, chance) : plan.leaf.pair
      return whileLeading(workshop, leafTexts(pair, authority))
    },
  })
  const leaf = readLeaf(texts)
  if (leaf === undefined) throw new Error(`Secret ${name.name} holds no certificate`)
  if (reason !== undefined) {
    const until = new Date(leaf.facts.notAfterMs).toISOString()
    log.info('a certificate was issued', { ...fieldsOf(name), names: purpose.names, until, reason })
  }
  return leaf
}

/**
 * Makes one where there is none, and changes none that is there: so it may be done by whoever does not lead, too.
 * @throws ApiError; CertificateError `foreign_secret`
 */
export const seedLeaf = async (
  { api, owner, policy, clock, chance, log }: Workshop,
  name: ObjectName,
  purpose: LeafPurpose,
  authority: Authority,
): Promise<void> => {
  const made = { at: undefined as number | undefined }
  await updateSecret(api, {
    ...{ name, owner, type: 'kubernetes.io/tls' },
    decide: async (known) => {
      made.at = known === undefined ? clock.now() : undefined
      if (known !== undefined) return undefined
      const judging = { authority, policy, nowMs: clock.now() }
      return leafTexts(await issueFor(purpose, judging, chance), authority)
    },
  })
  if (made.at !== undefined)
    log.info('a certificate was issued', {
      ...fieldsOf(name),
      names: purpose.names,
      reason: 'none',
    })
}

export const readLeaf = (texts: SecretTexts): KeptLeaf | undefined => {
  const leaf = readPair(texts['tls.crt'], texts['tls.key'])
  return leaf && { ...leaf, bundle: texts['ca.crt'] ?? '' }
}

const newSigner = async ({ policy, clock, chance }: Workshop): Promise<Signer> => {
  const life = lifeFrom(clock.now(), policy.authorityLifeMs, policy)
  const pair = await issueAuthority(life, chance)
  const read = readPair(pair.cert, pair.key)
  if (read === undefined) throw new Error('a CA was made that cannot be read again')
  return read
}

const whileLeading = ({ mayWrite }: Workshop, texts: SecretTexts): SecretTexts => {
  if (mayWrite()) return texts
  throw new CertificateError('not_leading', 'another operator leads now')
}

const isSame = (left: SecretTexts, right: SecretTexts): boolean =>
  [...new Set([...Object.keys(left), ...Object.keys(right)])].every(
    (key) => left[key] === right[key],
  )

/** For the log, where `name` is the program's. */
const fieldsOf = ({ namespace, name }: ObjectName): object => ({
  ...{ kind: 'Secret', namespace, object: name },
})
