// Calls, publishes, subscribes and registers as most tests want of a raw peer, with the router's response as plain
// data. An ERROR is a response like any other here, never an exception.

import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import type { RawPeer } from './raw-wamp-peer.ts'

/** As much of a RESULT or ERROR as the callee decides. Empty parts are left out: routers differ in sending them. */
export type ReplyPlan =
  | { readonly args?: Value; readonly kwargs?: Value }
  | { readonly error: string; readonly args?: Value; readonly kwargs?: Value }

export interface PeerInvocation {
  readonly requestId: number
  readonly details: ValueMap
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
  /** A progressive YIELD. */
  readonly progress: (args: readonly Value[]) => void
}

/** undefined: no response is sent. */
export type PeerProcedure = (
  invocation: PeerInvocation,
) => ReplyPlan | undefined | Promise<ReplyPlan | undefined>

export interface PeerEvent {
  readonly publicationId: Value | undefined
  readonly details: ValueMap
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
}

/** `[args, kwargs]` as the end of a message, shortest form. */
const payloadOf = ({
  args,
  kwargs,
}: {
  readonly args?: Value
  readonly kwargs?: Value
}): Value[] => (kwargs === undefined ? (args === undefined ? [] : [args]) : [args ?? [], kwargs])

export const outcomeOf = (response: WampMessage): ReplyPlan => {
  const isError = response[0] === MESSAGE.error
  const [args = [], kwargs = {}] = response.slice(isError ? 5 : 3)
  return {
    ...(isError && {
      error: typeof response[4] === 'string' ? response[4] : JSON.stringify(response[4]),
    }),
    ...(!isEmpty(args) && { args }),
    ...(!isEmpty(kwargs) && { kwargs }),
  }
}

const isEmpty = (part: Value): boolean =>
  (isList(part) && part.length === 0) || (isMap(part) && Object.keys(part).length === 0)

export interface CallOptions {
  readonly args?: readonly Value[]
  readonly kwargs?: ValueMap
  readonly options?: ValueMap
}

export const call = async (
  peer: RawPeer,
  procedure: string,
  options: CallOptions = {},
): Promise<ReplyPlan> => outcomeOf(await peer.ask(callMessage(peer, procedure, options)))

/** For tests that send or cancel it themselves. */
export const callMessage = (
  peer: RawPeer,
  procedure: string,
  { args, kwargs, options = {} }: CallOptions = {},
): WampMessage => [
  MESSAGE.call,
  peer.nextId(),
  options,
  procedure,
  ...payloadOf({ ...(args && { args }), ...(kwargs && { kwargs }) }),
]

/** Registered: `{id}`; refused: `{error}`. */
export type Acknowledgement = { readonly id: number } | ReplyPlan

const acknowledgementOf = (response: WampMessage): Acknowledgement =>
  response[0] === MESSAGE.error ? outcomeOf(response) : { id: Number(response[2]) }

/** The id, or an exception: for tests whose subject is another one. */
export const idOf = (acknowledgement: Acknowledgement): number => {
  if ('id' in acknowledgement) return acknowledgement.id
  throw new Error(`the router refused: ${JSON.stringify(acknowledgement)}`)
}

export const register = async (
  peer: RawPeer,
  procedure: string,
  handler: PeerProcedure,
  options: ValueMap = {},
): Promise<Acknowledgement> => {
  const registered = acknowledgementOf(
    await peer.ask([MESSAGE.register, peer.nextId(), options, procedure]),
  )
  if ('id' in registered) {
    peer.listen((message) => {
      if (message[0] !== MESSAGE.invocation || message[2] !== registered.id) return false
      void answerInvocation(peer, message, handler)
      return true
    })
  }
  return registered
}

const answerInvocation = async (
  peer: RawPeer,
  [, id, , details, args, kwargs]: WampMessage,
  handler: PeerProcedure,
): Promise<void> => {
  const requestId = Number(id)
  const outcome = await handler({
    requestId,
    details: isMap(details) ? details : {},
    args: isList(args) ? args : [],
    kwargs: isMap(kwargs) ? kwargs : {},
    progress: (part) => {
      peer.send([MESSAGE.yield, requestId, { progress: true }, part])
    },
  })
  if (outcome === undefined) return
  if ('error' in outcome)
    peer.send([
      MESSAGE.error,
      MESSAGE.invocation,
      requestId,
      {},
      outcome.error,
      ...payloadOf(outcome),
    ])
  else peer.send([MESSAGE.yield, requestId, {}, ...payloadOf(outcome)])
}

export const unregister = async (peer: RawPeer, id: number): Promise<ReplyPlan> =>
  outcomeOf(await peer.ask([MESSAGE.unregister, peer.nextId(), id]))

/** Acknowledged. */
export const publish = async (
  peer: RawPeer,
  topic: string,
  { args, kwargs, options = {} }: CallOptions = {},
): Promise<Acknowledgement> =>
  acknowledgementOf(
    await peer.ask([
      MESSAGE.publish,
      peer.nextId(),
      { acknowledge: true, ...options },
      topic,
      ...payloadOf({ ...(args && { args }), ...(kwargs && { kwargs }) }),
    ]),
  )

export const subscribe = async (
  peer: RawPeer,
  topic: string,
  onEvent: (event: PeerEvent) => void,
  options: ValueMap = {},
): Promise<Acknowledgement> => {
  const subscribed = acknowledgementOf(
    await peer.ask([MESSAGE.subscribe, peer.nextId(), options, topic]),
  )
  if ('id' in subscribed) {
    peer.listen(([type, subscription, publicationId, details, args, kwargs]) => {
      if (type !== MESSAGE.event || subscription !== subscribed.id) return false
      onEvent({
        publicationId,
        details: isMap(details) ? details : {},
        args: isList(args) ? args : [],
        kwargs: isMap(kwargs) ? kwargs : {},
      })
      return true
    })
  }
  return subscribed
}

export const unsubscribe = async (peer: RawPeer, id: number): Promise<ReplyPlan> =>
  outcomeOf(await peer.ask([MESSAGE.unsubscribe, peer.nextId(), id]))
