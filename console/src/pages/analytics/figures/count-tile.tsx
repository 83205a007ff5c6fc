import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import { Tile, type TileProps } from './tile.js'

interface CountTileProps {
  figure: NonNullable<TileProps['series']>
  count: number
  hint: string
}

/** A number of recipients, in its colour of the charts. */
export function CountTile({ figure, count, hint }: CountTileProps) {
  const { t } = useTranslation('analytics')
  const { number } = useFormat()
  return <Tile series={figure} label={t(`figures.${figure}`)} value={number(count)} hint={hint} />
}
