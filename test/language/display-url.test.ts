import { describe, expect, it } from '@jest/globals'
import { displayUrl } from '../../language/display-url.ts'

describe('displayUrl', () => {
  it.each([
    ['ws://router:8080/ws', 'ws://router:8080/ws'],
    ['wss://joe:s3cret@router/ws?token=s3cret#s3cret', 'wss://router/ws'],
    ['rs://joe:s3cret@10.0.0.1:9000', 'rs://10.0.0.1:9000'],
    ['rs+unix:/run/router.sock', 'rs+unix:/run/router.sock'],
    ['s3cret', 'an invalid URL'],
    ['', 'an invalid URL'],
  ])('%s: %s', (url, shown) => {
    expect(displayUrl(url)).toBe(shown)
  })
})
