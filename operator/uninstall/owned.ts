// Decides whether this operator has made an object of the cluster, and says why another one stays. Pure.

import { listAt, mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { OWNER_ANNOTATION } from '../certificates/secret-store.ts'

export interface Installation {
  /** The operator's namespace. */
  readonly namespace: string
  readonly webhookService: string
  readonly webhookUrl: string | null
}

/** Undefined: it is ours. */
export type Foreign = string | undefined

/** Decided by the annotation, as others may use the same name. */
export const foreignSecret = (object: ValueMap, { namespace }: Installation): Foreign => {
  const owner = memberAt(mapAt(mapAt(object, 'metadata'), 'annotations'), OWNER_ANNOTATION)
  if (owner === namespace) return undefined
  return typeof owner === 'string'
    ? `it belongs to the operator of namespace ${owner}`
    : `it does not carry the annotation ${OWNER_ANNOTATION}`
}

/** Decides by where its webhooks are reached. */
export const foreignWebhook = (object: ValueMap, installation: Installation): Foreign => {
  const clients = listAt(object, 'webhooks').map((webhook) =>
    isMap(webhook) ? mapAt(webhook, 'clientConfig') : {},
  )
  return clients.map((client) => foreignClient(client, installation)).find(Boolean)
}

const foreignClient = (client: ValueMap, installation: Installation): Foreign => {
  if (memberAt(client, 'service') === undefined) {
    return foreignUrl(textAt(client, 'url'), installation)
  }
  const service = mapAt(client, 'service')
  const [namespace, name] = [textAt(service, 'namespace'), textAt(service, 'name')]
  if (namespace !== installation.namespace)
    return `it belongs to the operator of namespace ${namespace}`
  return name === installation.webhookService
    ? undefined
    : `its Service is ${name}: to remove it, add --webhook-service ${name}`
}

const foreignUrl = (url: string, { webhookUrl }: Installation): Foreign => {
  if (url === '') return 'it does not say where it is reached'
  const isOurs = webhookUrl !== null && url.startsWith(`${webhookUrl.replace(/\/$/, '')}/`)
  return isOurs ? undefined : `it is reached at ${url}: to remove it, add that --webhook-url`
}
