// Starts the webhooks as settings configure them: the names on their certificate, their server, and their registration
// with the API server.

import type { ValueMap } from '../language/expression/value.ts'
import type { Log } from '../telemetry/log.ts'
import {
  type AdmissionServer,
  type Admit,
  startAdmissionServer,
} from './admission/admission-server.ts'
import { type Adviser, type AdviserOptions, createAdviser } from './admission/advise-review.ts'
import { createInjector } from './admission/inject-review.ts'
import { createFindUnserved } from './admission/absent-services.ts'
import { createLookUp } from './admission/look-up.ts'
import { MissedPods } from './admission/missed-pods.ts'
import type { ReviewKeys } from './admission/review-key.ts'
import { createServedClasses } from './admission/served-classes.ts'
import { validateReview } from './admission/validate-review.ts'
import {
  INJECT_PATH,
  injectConfiguration,
  VALIDATE_PATH,
  webhookConfiguration,
  type WebhookTarget,
} from './admission/webhook-configuration.ts'
import { WebhookManager } from './admission/webhook-manager.ts'
import { WebhookRemover } from './admission/webhook-remover.ts'
import type { CertificateManager } from './certificates/certificate-manager.ts'
import type { Clock } from '../base/clock.ts'
import type { OperatorSettings } from './config.ts'
import type { OperatorCompiler } from './document-compiler.ts'
import { type KubernetesApi, type ResourceType, TYPES } from './kubernetes/client/api.ts'
import { type OperatorAccount, readRemedy } from './resource/roles-for.ts'
import { WEBHOOK_CONFIGURATION } from './resource/roles.ts'
import { openSidecarFile } from './sidecar-file.ts'

type Settings = Pick<
  OperatorSettings,
  | 'class'
  | 'clusterDomain'
  | 'deletedRealmSeconds'
  | 'namespaces'
  | 'webhook'
  | 'webhookService'
  | 'webhookUrl'
  | 'sidecar'
  | 'manager'
  | 'dataPlaneTls'
>

/** The names of the Service, and the host in `--webhook-url`; none where there is no webhook. */
export const webhookNames = (
  { webhook, webhookService, webhookUrl }: Settings,
  namespace: string,
): readonly string[] => {
  if (webhook === 'off') return []
  const service = `${webhookService}.${namespace}.svc`
  return webhookUrl === null ? [service] : [service, new URL(webhookUrl).hostname]
}

export interface AdmissionOptions {
  readonly settings: Settings
  readonly certificates: CertificateManager
  readonly reviewKeys: ReviewKeys
  readonly log: Log
}

export interface ServerOptions extends AdmissionOptions {
  readonly clock: Clock
  /** The operator's own. */
  readonly namespace: string
}

/** What the operator knows besides the object that is reviewed. */
export interface Knowledge extends Pick<AdviserOptions, 'foresight' | 'dataPlanes'> {
  readonly account: OperatorAccount
  readonly compiler: OperatorCompiler
  readonly api: KubernetesApi
}

/** @throws Error with a `code` where the address can't be listened on, or with a message about `--sidecar` */
export const openAdmission = async (
  options: ServerOptions & Knowledge,
): Promise<AdmissionServer | undefined> => {
  const { settings, certificates, reviewKeys, compiler, clock, log } = options
  if (settings.webhook === 'off') return undefined
  const validate = {
    className: settings.class,
    compile: compiler.compile.bind(compiler),
    clock,
  }
  const adviser = openAdviser(options)
  return startAdmissionServer({
    address: settings.webhook,
    certificate: () => certificates.webhookCertificate(),
    paths: {
      [VALIDATE_PATH]: (request, word) => {
        const isAdvised = reviewKeys.has(word ?? '') && isServed(request.namespace, settings)
        return validateReview(request, { ...validate, ...(isAdvised && { adviser }) })
      },
      ...(settings.sidecar !== null && {
        [INJECT_PATH]: await openInjector(settings.sidecar, options),
      }),
    },
    log,
  })
}

/** Nothing is known of other namespaces. */
const isServed = (namespace: string, { namespaces }: Settings): boolean =>
  namespaces.includes('all') || namespaces.includes(namespace)

const openAdviser = ({
  settings,
  account,
  api,
  clock,
  foresight,
  dataPlanes,
}: ServerOptions & Knowledge): Adviser =>
  createAdviser({
    className: settings.class,
    foresight,
    dataPlanes,
    clock,
    deletedRealmSeconds: settings.deletedRealmSeconds,
    lookUp: createLookUp({
      api,
      clock,
      remedy: (kind, of) => readRemedy(account, kind, of),
    }),
    findUnserved: createFindUnserved({ api, clock, clusterDomain: settings.clusterDomain }),
    isClassServed: createServedClasses({ api, clock }),
  })

const openInjector = async (
  path: string,
  { settings, certificates, clock, namespace, log }: ServerOptions,
): Promise<Admit> =>
  createInjector({
    clock,
    log,
    manager: settings.manager,
    operatorNamespace: namespace,
    namespaces: settings.namespaces.includes('all') ? 'all' : settings.namespaces,
    settings: await openSidecarFile(path, log),
    ensureNamespaceCertificate: (each) =>
      settings.dataPlaneTls
        ? certificates.ensureNamespaceCertificate(each)
        : Promise.resolve(undefined),
  })

export interface WebhookManagerParts extends ServerOptions {
  readonly api: KubernetesApi
  readonly namespaces: readonly string[] | 'all'
}

/** Undefined: there are no sidecars. */
export const createMissedPods = ({
  settings,
  namespace,
  ...shared
}: WebhookManagerParts): MissedPods | undefined =>
  settings.webhook === 'off' || settings.sidecar === null
    ? undefined
    : new MissedPods({ ...shared, operatorNamespace: namespace })

/** One for each kind of configuration; none where there is no webhook. */
export const createWebhookManagers = (parts: WebhookManagerParts): readonly WebhookManager[] => {
  const { api, clock, log, certificates, reviewKeys } = parts
  return configurationsOf(parts)
    .filter(({ isWanted }) => isWanted)
    .map(
      ({ type, make, isKeyed }) =>
        new WebhookManager({
          api,
          clock,
          log,
          type,
          make,
          name: WEBHOOK_CONFIGURATION,
          caBundle: () => certificates.caBundle(),
          ...(isKeyed && { reviewKey: () => reviewKeys.current }),
        }),
    )
}

/** For configurations that were made while the webhook or sidecars were on, and are not wanted any more. */
export const createWebhookRemovers = (parts: WebhookManagerParts): readonly WebhookRemover[] => {
  const { api, clock, log } = parts
  return configurationsOf(parts)
    .filter(({ isWanted }) => !isWanted)
    .map(
      ({ type, make }) =>
        new WebhookRemover({ api, clock, log, type, name: WEBHOOK_CONFIGURATION, made: make('') }),
    )
}

interface Configuration {
  readonly type: ResourceType
  readonly make: (caBundle: string, reviewKey?: string) => ValueMap
  readonly isWanted: boolean
  /** A caller with the key shows that it has read the configuration. */
  readonly isKeyed: boolean
}

/** Each configuration that an operator may have made, as this one would make it. */
const configurationsOf = ({
  settings,
  namespace,
  namespaces,
}: WebhookManagerParts): readonly Configuration[] => {
  const facts = { name: WEBHOOK_CONFIGURATION, target: targetOf(settings, namespace), namespaces }
  const hasWebhook = settings.webhook !== 'off'
  return [
    {
      type: TYPES.validatingWebhookConfigurations,
      make: (caBundle, reviewKey) => webhookConfiguration({ ...facts, caBundle, reviewKey }),
      isWanted: hasWebhook,
      isKeyed: true,
    },
    {
      type: TYPES.mutatingWebhookConfigurations,
      make: (caBundle) => injectConfiguration({ ...facts, caBundle, operatorNamespace: namespace }),
      isWanted: hasWebhook && settings.sidecar !== null,
      isKeyed: false,
    },
  ]
}

const targetOf = (
  { webhookUrl: url, webhookService: name }: Settings,
  namespace: string,
): WebhookTarget => (url === null ? { service: { namespace, name } } : { url })
