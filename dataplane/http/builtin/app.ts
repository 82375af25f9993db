// The Express shell around the endpoints of the gateway's own: visits that dispatch has matched go through its
// middleware to the one table of endpoints. It matches no path by itself, and what is thrown ends here.

import cookieParser from 'cookie-parser'
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../gateway-error.ts'
import { abandonVisit, answerVisit, refuseVisit } from './endpoint-answer.ts'
import { answerEndpoint } from './answer-endpoint.ts'
import type { EndpointDeps } from './endpoint-deps.ts'
import type { EndpointHandler, EndpointVisit } from '../arrival.ts'

export const createEndpointApp = (deps: EndpointDeps): EndpointHandler => {
  const visits = new WeakMap<IncomingMessage, EndpointVisit>()
  const app = express()
  app.disable('x-powered-by').disable('etag').set('query parser', false)
  app.use(cookieParser())
  app.use(answer(deps, visits), refuse(visits))
  return (visit) => {
    const { request, response } = visit.arrival
    visits.set(request, visit)
    // It makes of both what it says they are.
    app(request as Request, response as Response, () => {
      refuseVisit(visit, unreadable())
    })
  }
}

/** Express passes by all of its middleware where it can't parse the target: `http://[::1/`. */
const unreadable = (): GatewayError =>
  new GatewayError('svc.error.invalid_data', 'The request target is no URL')

type Visits = Pick<WeakMap<IncomingMessage, EndpointVisit>, 'get'>

const answer =
  (deps: EndpointDeps, visits: Visits): RequestHandler =>
  async (request) => {
    const visit = visits.get(request)
    if (visit === undefined) throw new TypeError('a request that dispatch has not matched')
    const given = await answerEndpoint(deps, visit)
    if (given === undefined) abandonVisit(visit)
    else answerVisit(visit, given)
  }

/** Express tells an error handler by its four parameters. */
const refuse =
  (visits: Visits): ErrorRequestHandler =>
  (error: unknown, request, _response, next) => {
    const visit = visits.get(request)
    if (visit === undefined) next(error)
    else refuseVisit(visit, error)
  }
