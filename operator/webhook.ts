// The webhooks as settings have them: the names on their certificate, their server, and what the API server is told
// of them.

import type { Log } from '../telemetry/log.ts'
import {
  type AdmissionServer,
  type Admit,
  startAdmissionServer,
} from './admission/admission-server.ts'
import { createInjector } from './admission/inject-review.ts'
import { MissedPods } from './admission/missed-pods.ts'
import { validateReview } from './admission/validate-review.ts'
import {
  INJECT_PATH,
  injectConfiguration,
  VALIDATE_PATH,
  webhookConfiguration,
  type WebhookTarget,
} from './admission/webhook-configuration.ts'
import { WebhookKeeper } from './admission/webhook-keeper.ts'
import { WebhookRemover } from './admission/webhook-remover.ts'
import type { CertificateKeeper } from './certificates/certificate-keeper.ts'
import type { Clock } from './clock.ts'
import type { OperatorSettings } from './config.ts'
import { type KubernetesApi, TYPES } from './kubernetes/api.ts'
import { WEBHOOK_CONFIGURATION } from './resource/roles.ts'
import { openSidecarFile } from './sidecar-file.ts'

type Settings = Pick<
  OperatorSettings,
  | 'class'
  | 'namespaces'
  | 'webhook'
  | 'webhookService'
  | 'webhookUrl'
  | 'sidecar'
  | 'manager'
  | 'dataPlaneTls'
>

/** Of the Service, and of the host in `--webhook-url`; none where there is no webhook. */
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
  readonly certificates: CertificateKeeper
  readonly log: Log
}

export interface ServerOptions extends AdmissionOptions {
  readonly clock: Clock
  /** The operator's own. */
  readonly namespace: string
}

/** @throws Error with a `code` where the address can't be listened on, or in plain words about `--sidecar` */
export const openAdmission = async (
  options: ServerOptions,
): Promise<AdmissionServer | undefined> => {
  const { settings, certificates, log } = options
  if (settings.webhook === 'off') return undefined
  return startAdmissionServer({
    address: settings.webhook,
    certificate: () => certificates.webhookCertificate(),
    paths: {
      [VALIDATE_PATH]: (request) => validateReview(request, { className: settings.class }),
      ...(settings.sidecar !== null && {
        [INJECT_PATH]: await openInjector(settings.sidecar, options),
      }),
    },
    log,
  })
}

const openInjector = async (
  path: string,
  { settings, certificates, clock, namespace, log }: ServerOptions,
): Promise<Admit> =>
  createInjector({
    ...{ clock, log, manager: settings.manager, operatorNamespace: namespace },
    namespaces: settings.namespaces.includes('all') ? 'all' : settings.namespaces,
    settings: await openSidecarFile(path, log),
    seedNamespace: (each) =>
      settings.dataPlaneTls ? certificates.seedNamespace(each) : Promise.resolve(undefined),
  })

export interface WebhookKeeperParts extends ServerOptions {
  readonly api: KubernetesApi
  readonly namespaces: readonly string[] | 'all'
}

/** Undefined: there are no sidecars. */
export const createMissedPods = ({
  settings,
  namespace,
  ...shared
}: WebhookKeeperParts): MissedPods | undefined =>
  settings.webhook === 'off' || settings.sidecar === null
    ? undefined
    : new MissedPods({ ...shared, operatorNamespace: namespace })

/** One for each kind of configuration; none where there is no webhook. */
export const createWebhookKeepers = ({
  settings,
  certificates,
  namespace,
  namespaces,
  ...shared
}: WebhookKeeperParts): readonly WebhookKeeper[] => {
  if (settings.webhook === 'off') return []
  const name = WEBHOOK_CONFIGURATION
  const keep = { ...shared, name, caBundle: () => certificates.caBundle() }
  const facts = { name, target: targetOf(settings, namespace), namespaces }
  const validating = new WebhookKeeper({
    ...keep,
    type: TYPES.validatingWebhookConfigurations,
    make: (caBundle) => webhookConfiguration({ ...facts, caBundle }),
  })
  if (settings.sidecar === null) return [validating]
  const mutating = new WebhookKeeper({
    ...keep,
    type: TYPES.mutatingWebhookConfigurations,
    make: (caBundle) => injectConfiguration({ ...facts, caBundle, operatorNamespace: namespace }),
  })
  return [validating, mutating]
}

/** Where there are no sidecars (any more): of what made them. Undefined: there are, or there is no webhook at all. */
export const createWebhookRemover = ({
  settings,
  namespace,
  namespaces,
  api,
  clock,
  log,
}: WebhookKeeperParts): WebhookRemover | undefined => {
  if (settings.webhook === 'off' || settings.sidecar !== null) return undefined
  const name = WEBHOOK_CONFIGURATION
  const facts = { name, target: targetOf(settings, namespace), namespaces, caBundle: '' }
  const made = injectConfiguration({ ...facts, operatorNamespace: namespace })
  const type = TYPES.mutatingWebhookConfigurations
  return new WebhookRemover({ api, clock, log, type, name, made })
}

const targetOf = (
  { webhookUrl: url, webhookService: name }: Settings,
  namespace: string,
): WebhookTarget => (url === null ? { service: { namespace, name } } : { url })
