import type { OrderIdentity, ShopOrder } from './order.js'

const first: Readonly<OrderIdentity> = { id: 450_789_469, order_number: 1_001, number: 1 }

/** Every order of the shop, oldest first. */
export class ShopOrders {
  readonly #orders = new Map<number, ShopOrder>()
  #next = first

  /** The identity of the next order: above all existing ones. */
  get next(): Readonly<OrderIdentity> {
    return this.#next
  }

  find(id: number): ShopOrder | undefined {
    return this.#orders.get(id)
  }

  all(): ShopOrder[] {
    return [...this.#orders.values()]
  }

  /** Adds an order, and replaces one with the same id. */
  put(order: ShopOrder): void {
    this.#orders.set(order.id, order)
    const { id, order_number, number } = this.#next
    this.#next = {
      id: Math.max(id, order.id + 1),
      order_number: Math.max(order_number, order.order_number + 1),
      number: Math.max(number, order.number + 1),
    }
  }

  reset(): void {
    this.#orders.clear()
    this.#next = first
  }
}
