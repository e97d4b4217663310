AND i.active AND i.visibility = 'public'
