/** The texts of another language, with the same keys. */
export type SameShape<Texts> = { [Key in keyof Texts]: Texts[Key] extends string ? string : SameShape<Texts[Key]> }
