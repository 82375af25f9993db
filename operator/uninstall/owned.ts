// An object of the cluster in; whether this operator made it, and if not, why it stays, out. Pure.

import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { OWNER_ANNOTATION } from '../certificates/secret-store.ts'

export interface Installation {
  /** Of the operator. */
  readonly namespace: string
  readonly webhookService: string
  readonly webhookUrl: string | null
}

/** Undefined: it is ours. */
export type Foreign = string | undefined

/** By its annotation: the name alone may be anybody's. */
export const foreignSecret = (object: ValueMap, { namespace }: Installation): Foreign => {
  const owner = at(at(at(object, 'metadata'), 'annotations'), OWNER_ANNOTATION)
  if (owner === namespace) return undefined
  return typeof owner === 'string'
    ? `it belongs to the operator of namespace ${owner}`
    : `it does not carry the annotation ${OWNER_ANNOTATION}`
}

/** By where its webhooks are reached. */
export const foreignWebhook = (object: ValueMap, installation: Installation): Foreign => {
  const webhooks = at(object, 'webhooks')
  const clients = isList(webhooks) ? webhooks.map((webhook) => at(webhook, 'clientConfig')) : []
  return clients.map((client) => foreignClient(client, installation)).find(Boolean)
}

const foreignClient = (client: Value | undefined, installation: Installation): Foreign => {
  const service = at(client, 'service')
  if (service === undefined) return foreignUrl(at(client, 'url'), installation)
  const [namespace, name] = [at(service, 'namespace'), at(service, 'name')].map(String)
  if (namespace !== installation.namespace)
    return `it belongs to the operator of namespace ${namespace}`
  return name === installation.webhookService
    ? undefined
    : `its Service is ${name}: with --webhook-service ${name} it goes`
}

const foreignUrl = (url: Value | undefined, { webhookUrl }: Installation): Foreign => {
  if (typeof url !== 'string') return 'it does not say where it is reached'
  const isOurs = webhookUrl !== null && url.startsWith(`${webhookUrl.replace(/\/$/, '')}/`)
  return isOurs ? undefined : `it is reached at ${url}: with that --webhook-url it goes`
}

const at = (map: Value | undefined, key: string): Value | undefined =>
  map !== undefined && isMap(map) && Object.hasOwn(map, key) ? map[key] : undefined
