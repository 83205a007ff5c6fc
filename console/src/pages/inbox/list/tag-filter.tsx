import { Select } from '@mantine/core'
import { IconTag } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

interface TagFilterProps {
  tag: string
  known: readonly string[]
  onTag: (tag: string) => void
  /** Whether it starts open. */
  isAsked: boolean
}

/** Filters by a tag. */
export default function TagFilter({ tag, known, onTag, isAsked }: TagFilterProps) {
  const { t } = useTranslation('inbox')
  return (
    <Select
      size="xs"
      aria-label={t('tag')}
      placeholder={t('anyTag')}
      leftSection={<IconTag size={14} aria-hidden />}
      data={tag === '' || known.includes(tag) ? known : [tag, ...known]}
      value={tag || null}
      onChange={(chosen) => onTag(chosen ?? '')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('anyTag') }}
      autoFocus={isAsked}
      defaultDropdownOpened={isAsked}
    />
  )
}
