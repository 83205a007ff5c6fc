import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** Fetches a CSV file; `href` is an address of the service's. */
export function ExportLink({ href, of }: { href: string; of: string }) {
  const { t } = useTranslation('analytics')
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      size="xs"
      leftSection={<IconDownload aria-hidden size={16} />}
      aria-label={t('exportOf', { of })}
    >
      CSV
    </Button>
  )
}
