import { describe, expect, it } from '@jest/globals'
import { compiledPath, faultsOf } from '../documents.ts'

const pathsWith = (action: object) => ({ '/x': { post: { action } } })

const WAITING = '{{request.body.x}}'

describe('URIs of actions that match', () => {
  it.each([
    { type: 'wamp_subscribe', topic: 'a.b' },
    { type: 'wamp_subscribe', topic: 'a.', options: { match: 'prefix' } },
    {
      type: 'wamp_subscribe',
      topic: 'a..b',
      options: { match: 'wildcard', get_retained: WAITING },
    },
    { type: 'wamp_subscribe', topic: 'a..b', options: { match: WAITING } },
    { type: 'wamp_subscribe', topic: 'a..b', options: WAITING },
    { type: 'wamp_register', procedure: 'a..b', options: { match: 'wildcard' } },
    { type: 'wamp_unsubscribe', topic: 'a..b' },
    { type: 'wamp_unregister', procedure: 'a.' },
  ])('%j loads', (action) => {
    expect(compiledPath({ paths: pathsWith(action) }).operations.post?.action.type).toBe(
      action.type,
    )
  })

  it.each([
    { type: 'wamp_subscribe', topic: 'a..b' },
    { type: 'wamp_subscribe', topic: 'a..b', options: { match: 'prefix' } },
    { type: 'wamp_subscribe', topic: 'a.', options: { match: 'exact' } },
    { type: 'wamp_subscribe', topic: 'a.', options: { get_retained: WAITING } },
    { type: 'wamp_subscribe', topic: 'a..b c', options: { match: 'wildcard' } },
    { type: 'wamp_subscribe', topic: 'a.', options: { match: 'constructor' } },
    { type: 'wamp_publish', topic: 'a..b', options: { match: 'wildcard' } },
  ])('%j does not', (action) => {
    expect(faultsOf({ paths: pathsWith(action) })).toEqual([
      ['/versions/v1/paths/~1x/post/action/topic', 'invalid_value'],
    ])
  })

  it.each([
    { type: 'wamp_register', procedure: 'a..b' },
    { type: 'wamp_call', procedure: 'a..b', options: { match: 'wildcard' } },
  ])('%j does not', (action) => {
    expect(faultsOf({ paths: pathsWith(action) })).toEqual([
      ['/versions/v1/paths/~1x/post/action/procedure', 'invalid_value'],
    ])
  })
})
