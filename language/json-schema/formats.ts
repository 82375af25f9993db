// Lists the formats that JSON Schemas may name, each checked in time that is linear in the text.

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME =
  /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:[zZ]|[+-]([01]\d|2[0-3]):([0-5]\d))$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:[!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]*$/i
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i

const isDate = (text: string): boolean => {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

/** A leap second is the last one of a day in UTC. */
const isTime = (text: string): boolean => {
  const [, hour, minute, second] = TIME.exec(text) ?? []
  if (second !== '60') return second !== undefined
  const offset = /([+-])(\d\d):(\d\d)$/.exec(text)
  const [, sign = '+', hours = '0', minutes = '0'] = offset ?? []
  const shift = (Number(hours) * 60 + Number(minutes)) * (sign === '+' ? -1 : 1)
  const ofDay = (Number(hour) * 60 + Number(minute) + shift + 2 * 1440) % 1440
  return ofDay === 1439
}

const isHostname = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((label) => LABEL.test(label))

const isEmail = (text: string): boolean => {
  const at = text.lastIndexOf('@')
  return (
    text.length <= 320 &&
    at > 0 &&
    LOCAL_PART.test(text.slice(0, at)) &&
    isHostname(text.slice(at + 1))
  )
}

const isIPv6 = (text: string): boolean =>
  text.length <= 45 && /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`)

/** A point in time as RFC 3339 writes it, with its zone. */
export const isDateTime = (text: string): boolean =>
  text.length <= 64 && /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => text.length <= 64 && isTime(text),
  'date-time': isDateTime,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => text.length <= 15 && IPV4.test(text),
  ipv6: isIPv6,
  uri: (text) => ABSOLUTE.test(text) && !BROKEN_ESCAPE.test(text) && URL.canParse(text),
  uuid: (text) => text.length === 36 && UUID.test(text),
}
