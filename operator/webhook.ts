// The webhook as settings have it: the names on its certificate, its server, and what the API server is told of it.

import type { Log } from '../telemetry/log.ts'
import { type AdmissionServer, startAdmissionServer } from './admission/admission-server.ts'
import { validateReview } from './admission/validate-review.ts'
import { VALIDATE_PATH, type WebhookTarget } from './admission/webhook-configuration.ts'
import { WebhookKeeper } from './admission/webhook-keeper.ts'
import type { CertificateKeeper } from './certificates/certificate-keeper.ts'
import type { Clock } from './clock.ts'
import type { OperatorSettings } from './config.ts'
import type { KubernetesApi } from './kubernetes/api.ts'
import { WEBHOOK_CONFIGURATION } from './resource/roles.ts'

type Settings = Pick<OperatorSettings, 'class' | 'webhook' | 'webhookService' | 'webhookUrl'>

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

/** @throws Error with a `code` where the address can't be listened on */
export const openAdmission = async ({
  settings,
  certificates,
  log,
}: AdmissionOptions): Promise<AdmissionServer | undefined> => {
  if (settings.webhook === 'off') return undefined
  return startAdmissionServer({
    address: settings.webhook,
    certificate: () => certificates.webhookCertificate(),
    paths: {
      [VALIDATE_PATH]: (request) => validateReview(request, { className: settings.class }),
    },
    log,
  })
}

export interface WebhookKeeperParts extends AdmissionOptions {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly namespace: string
  readonly namespaces: readonly string[] | 'all'
}

export const createWebhookKeeper = ({
  settings,
  certificates,
  namespace,
  ...shared
}: WebhookKeeperParts): WebhookKeeper | undefined => {
  if (settings.webhook === 'off') return undefined
  const { webhookUrl: url, webhookService: name } = settings
  const target: WebhookTarget = url === null ? { service: { namespace, name } } : { url }
  return new WebhookKeeper({
    ...shared,
    name: WEBHOOK_CONFIGURATION,
    target,
    caBundle: () => certificates.caBundle(),
  })
}
