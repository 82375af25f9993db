// Decides which destinations in the cluster the documents of a namespace may have, by the operator's settings and the
// annotations of the Namespace. Validates constant hosts; gateways validate addresses, and hosts that depend on a request.

import { upstreamHostsOf } from '../../../language/compile/action.ts'
import type { CompiledApi } from '../../../language/compile/compiled.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Problem } from '../../../language/problem.ts'
import { readHostName } from '../../../language/service-name.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { ANNOTATIONS, resourceKey } from '../../resource/resource.ts'
import { ComputedCache } from '../computed-cache.ts'

export type DestinationPolicy =
  | { readonly may: 'any' }
  | {
      /** Services of its own namespace, and what is outside of the cluster. */
      readonly may: 'own'
      readonly namespace: string
      readonly clusterDomain: string
      readonly isNamespace: (name: string) => boolean
      /** The text of an annotation that is neither `own` nor `any`. */
      readonly misspelt?: string
    }

export interface DestinationOptions {
  /** For namespaces without an annotation. */
  readonly destinations: 'own' | 'any'
  readonly clusterDomain: string
}

export class DestinationPolicies {
  readonly #options: DestinationOptions
  readonly #known = new ComputedCache<DestinationPolicy>()
  #names: ReadonlySet<string> = new Set()

  constructor(options: DestinationOptions) {
    this.#options = options
  }

  /** Forgets namespaces that are not in `live`. */
  retain(live: { has(namespace: string): boolean }): void {
    this.#known.retain(live)
  }

  /**
   * @param names of all namespaces from now on; the same set while they are the same
   * @returns namespaces whose policy may have changed
   */
  follow(names: ReadonlySet<string>): Iterable<string> {
    if (names === this.#names) return []
    this.#names = names
    return this.#known.keys()
  }

  /** An annotation with an unknown value counts as `own`. The same object until something changes. */
  of(namespace: string, cache: ResourceCache): DestinationPolicy {
    const annotations = cache.resources.get(resourceKey('Namespace', '', namespace))?.metadata
      .annotations
    const isAnnotated =
      annotations !== undefined && Object.hasOwn(annotations, ANNOTATIONS.destinations)
    const text = isAnnotated ? (annotations[ANNOTATIONS.destinations] ?? '').trim() : undefined
    const may = text ?? this.#options.destinations
    if (may === 'any') return ANY
    const names = this.#names
    return this.#known.get(namespace, [may, names], () => ({
      may: 'own',
      namespace,
      clusterDomain: this.#options.clusterDomain,
      isNamespace: (name) => names.has(name),
      ...(may !== 'own' && { misspelt: may }),
    }))
  }
}

const ANY: DestinationPolicy = { may: 'any' }

/** @example confinementOf(policy) // 'shop' */
export const confinementOf = (policy: DestinationPolicy): string | undefined =>
  policy.may === 'own' ? policy.namespace : undefined

/** The `host` of a forward, where it is constant. */
export interface ForwardHost {
  /** Pointer to it in the document. */
  readonly path: string
  /** Without scheme and port. */
  readonly host: string
}

export const forwardHostsOf = ({ versions }: CompiledApi): readonly ForwardHost[] =>
  versions
    .filter(({ isActive }) => isActive)
    .flatMap(({ paths }) =>
      paths.flatMap(({ operations }) =>
        Object.values(operations).flatMap(({ action, pointer }) =>
          upstreamHostsOf(action).flatMap(({ path, template }) => {
            const host = constantHost(template)
            return host === undefined ? [] : [{ path: `${pointer}/action/${path}`, host }]
          }),
        ),
      ),
    )

/**
 * One problem for each `host` in another namespace.
 * @param isSelecting the document selects its gateways: sidecars may be among them, whose loopback reaches the
 * application of the same Pod
 */
export const destinationProblems = (
  policy: DestinationPolicy,
  { forwardHosts }: { readonly forwardHosts: readonly ForwardHost[] },
  isSelecting: boolean,
): readonly Problem[] => {
  if (policy.may === 'any') return []
  return forwardHosts.flatMap(({ path, host }) => {
    const message = rejectionOf(policy, host, isSelecting)
    return message === undefined ? [] : [{ code: 'invalid_value' as const, path, message }]
  })
}

/** @param problems at least one, as a person finds it */
export const destinationsRefused = (
  policy: DestinationPolicy,
  problems: readonly Problem[],
): NewCondition<'ResolvedRefs'> => {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const misspelt =
    policy.may === 'own' && policy.misspelt !== undefined
      ? `; the annotation says '${policy.misspelt.slice(0, 80)}', which is neither own nor any, and counts as own`
      : ''
  return {
    type: 'ResolvedRefs',
    status: 'False',
    reason: 'RefNotPermitted',
    message: `${first?.path ?? ''}: ${first?.message ?? ''}${more}${misspelt}`,
  }
}

/**
 * Longer hosts are left to gateways, as names have at most 253 characters: a value of a Secret may be a megabyte, and
 * each of hundreds of operations would keep a copy of it.
 */
const MAX_CONSTANT_LENGTH = 512

/** Without scheme and port; undefined: it depends on the request, or is not a host. */
const constantHost = (template: Template): string | undefined => {
  if (template.kind !== 'constant') return undefined
  const { value } = template
  if (typeof value !== 'string' || value.length > MAX_CONSTANT_LENGTH) return undefined
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`)
  return url === null || url.hostname === '' ? undefined : url.hostname
}

type Own = Extract<DestinationPolicy, { readonly may: 'own' }>

const rejectionOf = (
  { namespace, clusterDomain, isNamespace }: Own,
  host: string,
  isSelecting: boolean,
): string | undefined => {
  if (isLoopback(host)) {
    return isSelecting
      ? undefined
      : `'${host}' is the gateway itself, and ${may(namespace)}: name a Service of the namespace, or select a sidecar`
  }
  if (isLiteral(host)) return undefined
  const naming = readHostName(host, clusterDomain)
  if (naming.kind === 'other') return undefined
  if (naming.kind === 'bare') {
    return `'${host}' is a Service in the namespace of the gateway, and ${may(namespace)}: write '${host}.${namespace}'`
  }
  if (naming.kind === 'cluster') {
    return `'${host}' is in the cluster and is not a Service of the namespace, and ${may(namespace)}`
  }
  const isForeign =
    naming.namespace !== namespace && (naming.isCertain || isForeignService(host, isNamespace))
  return isForeign
    ? `'${host}' is a Service of the namespace ${naming.namespace}, and ${may(namespace)}` +
        (naming.isCertain ? '' : `; if it is a domain outside of the cluster, write '${host}.'`)
    : undefined
}

/** `orders.bank` where there is a namespace `bank`. Longer names are domains far more often, and gateways validate them. */
const isForeignService = (host: string, isNamespace: (name: string) => boolean): boolean => {
  const labels = host.split('.')
  return labels.length === 2 && isNamespace(labels[1] ?? '')
}

const may = (namespace: string): string =>
  `documents of ${namespace} may reach Services of their own namespace and what is outside of the cluster ` +
  `(annotation ${ANNOTATIONS.destinations} of the Namespace, or --destinations, destinations of the chart)`

/** As URLs spell addresses. */
const isLiteral = (host: string): boolean => host.startsWith('[') || /^[\d.]+$/.test(host)

const isLoopback = (host: string): boolean =>
  /^(?:.+\.)?localhost\.?$/i.test(host) ||
  host === '[::1]' ||
  host === '[::]' ||
  (isLiteral(host) && (host.startsWith('127.') || host === '0.0.0.0'))
