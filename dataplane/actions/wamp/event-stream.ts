// Serves one stream of server-sent events (behaviour §4, `wamp_subscribe`): it follows a topic for as long as the
// client listens. The head is written when the router has acknowledged; until then a failure gets an ordinary
// response.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { Follower, Following, WampClient } from '../../wamp/realm/wamp-client.ts'
import type { WampEvent, WampError } from '../../wamp/session/joined-session.ts'
import type { EventSink, Exchange } from '../performer.ts'
import {
  explainError,
  failExchange,
  failOverdue,
  failOverloaded,
  toActionError,
} from './failure.ts'
import type { OperationTimes } from './operation.ts'
import { OperationLifetime, type LifetimeOwner, type LifetimeDeps } from './operation-lifetime.ts'

export interface StreamTools extends LifetimeDeps {
  readonly client: () => WampClient
  /** Returns the same result for the same event, so that it is rendered once for all streams. */
  readonly view: (event: WampEvent) => ValueMap
}

export interface Topic {
  readonly uri: string
  readonly options: ValueMap
}

export class Streaming implements Follower, LifetimeOwner {
  readonly #exchange: Exchange
  readonly #tools: StreamTools
  readonly #lifetime: OperationLifetime
  #topic = ''
  #following: Following | undefined
  #sink: EventSink | undefined
  #isOver = false

  constructor(exchange: Exchange, tools: StreamTools) {
    this.#exchange = exchange
    this.#tools = tools
    this.#lifetime = new OperationLifetime(exchange, tools, this)
  }

  /** `timeoutMs` applies up to the router's acknowledgement; the stream holds its permit up to there too. */
  start(topic: Topic, { timeoutMs, connectTimeoutMs }: OperationTimes): void {
    if (!this.#lifetime.begin(timeoutMs)) {
      failOverloaded(this.#exchange)
      return
    }
    this.#topic = topic.uri
    this.#lifetime.whenJoined(connectTimeoutMs, () => {
      this.#follow(topic)
    })
  }

  #follow({ uri, options }: Topic): void {
    try {
      this.#following = this.#tools.client().follow(uri, options, this)
    } catch (error) {
      if (this.#lifetime.end()) failExchange(this.#exchange, error)
      return
    }
    // It may have ended before there was anything to unfollow.
    if (this.#isOver) this.#following.end()
  }

  onFollowed(subscriptionId: number): void {
    if (!this.#lifetime.end()) return
    this.#sink = this.#exchange.events({ subscription_id: subscriptionId })
    if (this.#sink === undefined) {
      this.#end()
      return
    }
    this.#exchange.onCancel(() => {
      this.#end()
    })
  }

  onEvent(event: WampEvent): void {
    if (this.#isOver || this.#sink === undefined) return
    const result = this.#tools.view(event)
    if (!this.#sink.send({ id: String(event.publicationId), result })) this.#end()
  }

  onInterrupted(): void {
    if (!this.#isOver) this.#sink?.comment('router connection lost; events may be missed')
  }

  onResumed(): void {
    if (!this.#isOver) this.#sink?.comment('router connection restored')
  }

  onFailure(cause: WampError): void {
    if (this.#isOver) return
    this.#isOver = true
    explainError(this.#exchange, cause)
    const error = toActionError(cause, this.#exchange.context.status_codes, this.#topic)
    if (this.#sink !== undefined) {
      this.#exchange.onCancel(undefined)
      this.#sink.fail(error)
    } else if (this.#lifetime.end()) this.#exchange.fail(error)
  }

  onOverdue(): void {
    this.#end()
    failOverdue(this.#exchange)
  }

  onGone(): void {
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    this.#following?.end()
  }
}
