// Answers admission requests of Pods: allows each, with the patch that puts a gateway beside its application and with
// warnings. Rejects none: a problem is a warning, and a line of the log for pods that no person applies.

import { withTimeout } from '../../base/timeout.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { Admit } from './admission-server.ts'
import { oneLine } from './problem-text.ts'
import { inject, type InjectOptions } from './inject.ts'
import type { AdmissionResponse, AdmissionRequest } from './review.ts'

export interface InjectorOptions extends Pick<InjectOptions, 'manager'> {
  /** The current settings. */
  readonly settings: () => Promise<InjectOptions['settings']>
  /** Makes the certificate of a namespace; gives the problem that prevents it, with what to do. */
  readonly ensureNamespaceCertificate: (namespace: string) => Promise<string | undefined>
  /** The operator's own: its pods get no gateway. */
  readonly operatorNamespace: string
  /** Where documents, realms and sidecars may be: requests of other namespaces are ignored. */
  readonly namespaces: readonly string[] | 'all'
  readonly clock: Clock
  readonly log: Log
}

/** An API server waits for 3 s, and half of that is for other webhooks. */
const SEED_MS = 1500

const UNCHANGED: AdmissionResponse = { allowed: true, warnings: [] }

export const createInjector =
  (options: InjectorOptions): Admit =>
  async (request) => {
    const { object } = request
    if (object === undefined || !isForUs(request, options)) return UNCHANGED
    try {
      return await answer(request, object, options)
    } catch (error) {
      options.log.error('the gateway of a pod could not be injected', {
        ...placeOf(request),
        error,
      })
      return warn('the pod has no gateway, as the operator failed: see its log')
    }
  }

/**
 * An API server does not authenticate itself: anyone who reaches the port may send a request, with any text as
 * namespace.
 */
const isForUs = (
  { group, kind, operation, subResource, namespace }: AdmissionRequest,
  { operatorNamespace, namespaces }: InjectorOptions,
): boolean => {
  const isNewPod = group === '' && kind === 'Pod' && operation === 'CREATE' && subResource === ''
  const isTaken = namespace === 'kube-system' || namespace === operatorNamespace
  const isServed = namespaces === 'all' || namespaces.includes(namespace)
  return isNewPod && isServed && !isTaken && NAMESPACE.test(namespace)
}

/** RFC 1123 label. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const answer = async (
  request: AdmissionRequest,
  pod: ValueMap,
  options: InjectorOptions,
): Promise<AdmissionResponse> => {
  const { manager, log } = options
  const injection = inject(pod, { settings: await options.settings(), manager })
  if (injection.injection === 'none') return UNCHANGED
  if (injection.injection === 'refused') {
    log.warn('a pod gets no gateway', { ...placeOf(request), reason: injection.reason })
    return warn(`the pod gets no gateway: ${injection.reason}`)
  }
  const { patch, warnings } = injection
  const failure = request.isDryRun ? undefined : await seed(request.namespace, options)
  if (failure !== undefined)
    log.warn('a pod starts without a certificate', { ...placeOf(request), failure })
  const words =
    failure === undefined ? [] : `the gateway has no certificate yet: ${failure}`.split('; ')
  return { allowed: true, warnings: [...warnings, ...words].flatMap(warningsOf), patch }
}

/** The Secret is optional in the pod: the wait for it has an end. */
const seed = (
  namespace: string,
  { ensureNamespaceCertificate, clock }: InjectorOptions,
): Promise<string | undefined> =>
  withTimeout(ensureNamespaceCertificate(namespace), {
    ms: SEED_MS,
    clock,
    onTimeout: () => 'the API server is slow; the gateway gets it as soon as it exists',
  })

/** Pods of a ReplicaSet or Job get their name after this. */
const placeOf = ({ namespace, name, object }: AdmissionRequest): object => {
  const metadata = object?.['metadata'] as { readonly generateName?: unknown } | undefined
  return { namespace, pod: name === '' ? metadata?.generateName : name }
}

const warn = (text: string): AdmissionResponse => ({ allowed: true, warnings: warningsOf(text) })

/** The API server cuts longer ones, in the middle of a command. */
const MAX_WARNING = 250

/** Annotations and names of a pod may contain characters that a header may not: the API server would drop the warning. */
const warningsOf = (text: string): readonly string[] => shorten(oneLine(text))

const shorten = (text: string): readonly string[] => {
  if (text.length <= MAX_WARNING) return [text]
  const cut = text.lastIndexOf(' ', MAX_WARNING)
  const end = cut > 0 ? cut : MAX_WARNING
  return [text.slice(0, end), ...shorten(text.slice(end).trimStart())]
}
