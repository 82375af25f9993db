// A router's address in, what autobahn must be told of it out: it reads WebSocket addresses only.

/** @param url `ws://…` or `rs://host:port` */
export const autobahnOptions = (url: string): object => {
  if (!url.startsWith('rs://')) return {}
  const { hostname, port } = new URL(url)
  return { transports: [{ type: 'rawsocket', host: hostname, port: Number(port) }] }
}
