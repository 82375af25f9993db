// Maintains the Secrets of certificates: reads each, checks it and writes it again where something is due. Asks before
// each write whether this operator may; logs which it wrote, never their content.

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
import { type RandomSource, issueAuthority } from './issue-certificate.ts'
import { issueFor, type LeafPurpose, leafTexts, planLeaf } from './leaf.ts'
import { type CertificatePolicy, lifeFrom } from './policy.ts'
import { readPair } from './read-certificate.ts'
import { updateSecret } from './secret-store.ts'

export interface IssuerDeps {
  readonly api: KubernetesApi
  /** The operator's namespace: its Secrets are annotated with it. */
  readonly owner: string
  /** The operator's own: named in the command that grants a missing permission. */
  readonly serviceAccount: string
  readonly policy: CertificatePolicy
  readonly clock: Clock
  readonly random: RandomSource
  readonly log: Log
  /** Called right before each write; false: nothing is written any more. */
  readonly mayWrite: () => boolean
}

/** @throws ApiError, CertificateError */
export const maintainAuthority = async (
  deps: IssuerDeps,
  name: ObjectName,
  settled: Settled,
): Promise<Authority> => {
  const { policy, clock, log } = deps
  const done = { step: 'keep' as AuthorityStep }
  const texts = await updateSecret(deps.api, {
    name,
    owner: deps.owner,
    type: 'Opaque',
    decide: async (known) => {
      const record = readAuthority(known ?? {}, clock.now())
      const step = planAuthority(record, settled, policy, clock.now())
      done.step = step
      const next = authorityTexts(await takeStep(record, step, () => newSigner(deps)))
      if (known !== undefined && isSame(known, next)) return undefined
      return whileLeading(deps, next)
    },
  })
  const authority = readAuthority(texts, clock.now())
  const { current, bundle } = authority
  if (current === undefined) throw new Error(`Secret ${name.name} contains no CA that can sign`)
  const { fingerprint, notAfterMs } = current.facts
  const until = new Date(notAfterMs).toISOString()
  const fields = { step: done.step, fingerprint, until, trusted: bundle.length, ...fieldsOf(name) }
  if (done.step === 'keep') log.debug('the CA has not changed', fields)
  else log.info('the CA of the gateways has changed', fields)
  return { ...authority, current }
}

export interface StoredLeaf extends Signer {
  /** PEM, as it stands beside the certificate. */
  readonly bundle: string
}

/** @throws ApiError, CertificateError */
export const maintainLeaf = async (
  deps: IssuerDeps,
  name: ObjectName,
  purpose: LeafPurpose,
  authority: Authority,
): Promise<StoredLeaf> => {
  const { policy, clock, random, log } = deps
  let reason: string | undefined
  const texts = await updateSecret(deps.api, {
    name,
    owner: deps.owner,
    type: 'kubernetes.io/tls',
    decide: async (known) => {
      const checks = { authority, policy, nowMs: clock.now() }
      const plan = planLeaf(known, purpose, checks)
      reason = plan.step === 'issue' ? plan.reason : undefined
      if (plan.step === 'keep') return undefined
      const pair = plan.step === 'issue' ? await issueFor(purpose, checks, random) : plan.leaf.pair
      return whileLeading(deps, leafTexts(pair, authority))
    },
  })
  const leaf = readLeaf(texts)
  if (leaf === undefined) throw new Error(`Secret ${name.name} contains no certificate`)
  if (reason !== undefined) {
    const until = new Date(leaf.facts.notAfterMs).toISOString()
    log.info('a certificate was issued', { ...fieldsOf(name), names: purpose.names, until, reason })
  }
  return leaf
}

/**
 * Creates a certificate where there is none and changes none, so that an operator that does not lead may do it, too.
 * @throws ApiError; CertificateError `foreign_secret`
 */
export const createLeafIfAbsent = async (
  { api, owner, policy, clock, random, log }: IssuerDeps,
  name: ObjectName,
  purpose: LeafPurpose,
  authority: Authority,
): Promise<void> => {
  const made = { at: undefined as number | undefined }
  await updateSecret(api, {
    name,
    owner,
    type: 'kubernetes.io/tls',
    decide: async (known) => {
      made.at = known === undefined ? clock.now() : undefined
      if (known !== undefined) return undefined
      const checks = { authority, policy, nowMs: clock.now() }
      return leafTexts(await issueFor(purpose, checks, random), authority)
    },
  })
  if (made.at !== undefined)
    log.info('a certificate was issued', {
      ...fieldsOf(name),
      names: purpose.names,
      reason: 'none',
    })
}

export const readLeaf = (texts: SecretTexts): StoredLeaf | undefined => {
  const leaf = readPair(texts['tls.crt'], texts['tls.key'])
  return leaf && { ...leaf, bundle: texts['ca.crt'] ?? '' }
}

const newSigner = async ({ policy, clock, random }: IssuerDeps): Promise<Signer> => {
  const life = lifeFrom(clock.now(), policy.authorityLifeMs, policy)
  const pair = await issueAuthority(life, random)
  const read = readPair(pair.cert, pair.key)
  if (read === undefined) throw new Error('the CA that was just made cannot be read')
  return read
}

const whileLeading = ({ mayWrite }: IssuerDeps, texts: SecretTexts): SecretTexts => {
  if (mayWrite()) return texts
  throw new CertificateError('not_leading', 'another operator leads now')
}

const isSame = (left: SecretTexts, right: SecretTexts): boolean =>
  [...new Set([...Object.keys(left), ...Object.keys(right)])].every(
    (key) => left[key] === right[key],
  )

/** For the log, where `name` is the program's. */
const fieldsOf = ({ namespace, name }: ObjectName): object => ({
  kind: 'Secret',
  namespace,
  object: name,
})
