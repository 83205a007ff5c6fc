import { readNumber } from '../../../channels/linked-device/wire/network-message.js'
import { asObject, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'

/** A message of the network that the upstream has no form for, with its text. */
export interface NetworkOffer {
  type: 'order' | 'product' | 'event' | 'group_invite'
  payload: JsonObject
  text: string
}

/** Reads orders, products, events and invitations to groups; null for other messages. */
export function readOffer(message: JsonObject): NetworkOffer | null {
  const { orderMessage, productMessage, eventMessage, groupInviteMessage } = message
  if (isJsonObject(orderMessage)) return readOrder(orderMessage)
  if (isJsonObject(productMessage)) return readProduct(productMessage)
  if (isJsonObject(eventMessage)) return readEvent(eventMessage)
  return isJsonObject(groupInviteMessage) ? readInvite(groupInviteMessage) : null
}

/** The network tells only how many items there are, and what they cost together. */
function readOrder(order: JsonObject): NetworkOffer {
  const [text, title] = [asText(order.message), asText(order.orderTitle)]
  const [count, total] = [readNumber(order.itemCount), readThousandths(order.totalAmount1000)]
  const currency = asText(order.totalCurrencyCode)
  const payload = { id: asText(order.orderId), text, title, item_count: count, total, currency }
  const items = count === null ? '[order]' : `${count} × ${title ?? '[order]'}`
  const sum = priceOf(total, currency)
  return { type: 'order', payload, text: lines(text, sum === null ? items : `${items} (${sum})`) }
}

function readProduct({ product, businessOwnerJid, body }: JsonObject): NetworkOffer {
  const fields = asObject(product)
  const [title, description] = [asText(fields.title), asText(fields.description)]
  const [price, currency] = [readThousandths(fields.priceAmount1000), asText(fields.currencyCode)]
  const id = asText(fields.retailerId) ?? asText(fields.productId)
  const seller = asText(businessOwnerJid)
  const payload = { product_id: id, title, description, price, currency, url: asText(fields.url), seller }
  const sum = priceOf(price, currency)
  const name = title ?? id ?? '[product]'
  return { type: 'product', payload, text: lines(sum === null ? name : `${name} (${sum})`, asText(body)) }
}

function readEvent(event: JsonObject): NetworkOffer {
  const place = asObject(event.location)
  const [name, description] = [asText(event.name), asText(event.description)]
  const payload = {
    name,
    description,
    location: isJsonObject(event.location)
      ? {
          latitude: readNumber(place.degreesLatitude),
          longitude: readNumber(place.degreesLongitude),
          name: asText(place.name),
          address: asText(place.address),
        }
      : null,
    join_link: asText(event.joinLink),
    starts_at: readMoment(event.startTime),
    ends_at: readMoment(event.endTime),
    is_canceled: event.isCanceled === true,
  }
  return { type: 'event', payload, text: lines(name ?? '[event]', payload.starts_at, description) }
}

function readInvite(invite: JsonObject): NetworkOffer {
  const [name, caption] = [asText(invite.groupName), asText(invite.caption)]
  const payload = {
    group_id: asText(invite.groupJid),
    group_name: name,
    code: asText(invite.inviteCode),
    expires_at: readMoment(invite.inviteExpiration),
  }
  return { type: 'group_invite', payload: { ...payload, caption }, text: lines(name ?? '[group]', caption) }
}

function readThousandths(value: unknown): number | null {
  const thousandths = readNumber(value)
  return thousandths === null ? null : thousandths / 1_000
}

function priceOf(amount: number | null, currency: string | null): string | null {
  if (amount === null) return null
  return currency === null ? String(amount) : `${amount} ${currency}`
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1_000

/** Unix seconds as ISO 8601; null for other values. */
function readMoment(value: unknown): string | null {
  const seconds = readNumber(value)
  return seconds !== null && seconds > 0 && seconds <= LAST_SECOND ? new Date(seconds * 1_000).toISOString() : null
}

function lines(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join('\n')
}
