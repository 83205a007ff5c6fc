/** A queue whose first items can be taken without moving the others, however long it is. */
export class Queue<Item> {
  #items: Item[]
  /** The index of the first item. */
  #head = 0

  constructor(items: Item[] = []) {
    this.#items = items
  }

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** The first items, at most `count`; they stay. */
  first(count: number): Item[] {
    return this.#items.slice(this.#head, this.#head + count)
  }

  /** Takes the first items, at most `count`. */
  take(count: number): Item[] {
    const taken = this.first(count)
    this.#head += taken.length
    // Each item is moved once on average.
    if (this.#head > this.#items.length / 2) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return taken
  }

  all(): Item[] {
    return this.first(this.length)
  }
}
