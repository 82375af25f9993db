// Compares a webhook configuration in the API server with the one that this operator would make, and describes for a
// person where it leads elsewhere or selects other namespaces. Pure.

import { mapAt, mapsAt, memberAt, numberAt, textAt } from '../../language/expression/members.ts'
import { canonicalJson } from '../../language/wire/digest.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Webhook, WebhookConfiguration } from '../kubernetes/objects.ts'
import { withoutReviewKey } from './review-key.ts'

/** Other changes are left to the person who made them. Undefined: as it should be. */
export const driftOf = (
  object: WebhookConfiguration,
  made: WebhookConfiguration,
): string | undefined => {
  const found = webhooksOf(object)
  const words = [...webhooksOf(made)].flatMap(([name, wanted]) => {
    const webhook = found.get(name)
    return webhook === undefined ? [`it has no ${name}`] : differences(name, webhook, wanted)
  })
  return words.length === 0 ? undefined : words.join(', ')
}

/** The target of the first of its webhooks. */
export const targetOf = (object: WebhookConfiguration): string => {
  const [first] = webhooksOf(object).values()
  return first === undefined ? 'no service' : clientOf(first)
}

const differences = (name: string, webhook: Webhook, wanted: Webhook): readonly string[] => {
  const [client, wantedClient] = [clientOf(webhook), clientOf(wanted)]
  return [
    ...(client === wantedClient ? [] : [`${name} calls ${client} instead of ${wantedClient}`]),
    ...(namespacesOf(webhook) === namespacesOf(wanted)
      ? []
      : [`${name} has another namespaceSelector`]),
  ]
}

const webhooksOf = (object: WebhookConfiguration): ReadonlyMap<string, Webhook> => {
  const webhooks = mapsAt(object, 'webhooks')
  return new Map(webhooks.map((webhook) => [textAt(webhook, 'name'), webhook]))
}

/** @example 'system/hook:443/validate'; the key of reviews is never shown, and is not compared */
const clientOf = (webhook: Webhook): string => {
  const client = mapAt(webhook, 'clientConfig')
  const service = memberAt(client, 'service')
  if (!isMap(service)) return withoutReviewKey(textAt(client, 'url'))
  const port = numberAt(service, 'port') ?? 443
  const path = withoutReviewKey(textAt(service, 'path'))
  return `${textAt(service, 'namespace')}/${textAt(service, 'name')}:${port}${path}`
}

/** The webhook with the current review key, unless its target was changed. */
export const withReviewKey = (webhook: Webhook, made: WebhookConfiguration): ValueMap => {
  const wanted = webhooksOf(made).get(textAt(webhook, 'name'))
  if (wanted === undefined || clientOf(wanted) !== clientOf(webhook)) return webhook
  return { ...webhook, clientConfig: mapAt(wanted, 'clientConfig') }
}

/** The API server writes `{}` where there is none. */
const namespacesOf = (webhook: Webhook): string =>
  canonicalJson(mapAt(webhook, 'namespaceSelector'))
