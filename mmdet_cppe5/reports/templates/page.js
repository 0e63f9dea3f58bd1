'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);

  // ---- theme -------------------------------------------------------------
  const root = document.documentElement;
  const themeButton = one('#theme');
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === 'dark' : prefersDark.matches;
  const showTheme = () => {
    themeButton.textContent = isDark() ? 'Light' : 'Dark';
    themeButton.setAttribute('aria-label',
      `Switch to the ${isDark() ? 'light' : 'dark'} theme`);
    themeButton.setAttribute('aria-pressed', String(isDark()));
  };
  themeButton.hidden = false;
  themeButton.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    showTheme();
  });
  prefersDark.addEventListener('change', showTheme);
  showTheme();

  // ---- the section in view is marked in the bar ---------------------------
  const links = new Map(all('.bar nav a').map(
    (link) => [link.getAttribute('href').slice(1), link]));
  const mark = () => {
    let current = null;
    for (const section of all('main > section')) {
      if (section.getBoundingClientRect().top < 140) current = section.id;
    }
    for (const [id, link] of links) {
      if (id === current) {
        if (!link.hasAttribute('aria-current')) {
          link.setAttribute('aria-current', 'true');
          const bar = link.parentElement;
          bar.scrollLeft = link.offsetLeft - bar.clientWidth / 2;
        }
      } else link.removeAttribute('aria-current');
    }
  };
  addEventListener('scroll', mark, { passive: true });
  mark();

  // ---- sortable tables -----------------------------------------------------
  const value = (row, column) => {
    const text = row.cells[column].dataset.sort;
    const number = Number(text);
    return text !== '' && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => (typeof a === 'number' && typeof b === 'number'
    ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
  for (const table of all('table.sortable')) {
    const heads = all('thead th', table);
    heads.forEach((head, column) => {
      one('button', head).addEventListener('click', () => {
        const numeric = head.classList.contains('number');
        const was = head.getAttribute('aria-sort');
        // Numbers start with the largest, names with A.
        const next = was === 'none'
          ? (numeric ? 'descending' : 'ascending')
          : (was === 'descending' ? 'ascending' : 'descending');
        heads.forEach((each) => each.setAttribute('aria-sort', 'none'));
        head.setAttribute('aria-sort', next);
        const sign = next === 'ascending' ? 1 : -1;
        const body = table.tBodies[0];
        const rows = [...body.rows];
        // Undefined values stay at the end in both directions.
        const known = rows.filter((row) => value(row, column) !== '');
        const unknown = rows.filter((row) => value(row, column) === '');
        known.sort((a, b) => sign * compare(value(a, column), value(b, column)));
        body.append(...known, ...unknown);
      });
    });
  }
  for (const field of all('input[data-table]')) {
    const table = document.getElementById(field.dataset.table);
    const count = one(`output[data-count="${field.dataset.table}"]`);
    const apply = () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
    };
    field.addEventListener('input', apply);
    apply();
  }

  // ---- gallery filters -------------------------------------------------------
  const form = one('#gallery-filters');
  const cards = all('.group .card');
  // Classes that a click on a figure or a table asked for.
  let pinned = [];
  let apply = () => {};
  if (form) {
    const nothing = one('.nothing');
    const slider = form.elements.score;
    apply = () => {
      const data = new FormData(form);
      const boxes = all('input[name=error]', form);
      const errors = new Set(data.getAll('error'));
      const wanted = [...pinned, data.get('class')].filter(Boolean);
      const image = data.get('image').trim().toLowerCase();
      const lowest = Number(slider.value);
      let shown = 0;
      for (const card of cards) {
        const classes = JSON.parse(card.dataset.classes);
        const fits = (!boxes.length || errors.has(card.dataset.error))
          && wanted.every((name) => classes.includes(name))
          && Number(card.dataset.score ?? 1) >= lowest
          && card.dataset.image.toLowerCase().includes(image);
        card.hidden = !fits;
        shown += fits ? 1 : 0;
      }
      for (const group of all('.group')) {
        group.hidden = !one('.card:not([hidden])', group);
      }
      nothing.hidden = shown > 0;
      one('.slider output', form).textContent = lowest.toFixed(2);
      one('.count', form).textContent = `${shown} of ${cards.length} examples`
        + (pinned.length ? ` with ${pinned.join(' and ')}` : '');
    };
    form.addEventListener('input', apply);
    form.addEventListener('reset', () => setTimeout(() => {
      pinned = [];
      apply();
    }));
    form.addEventListener('submit', (event) => event.preventDefault());
    apply();
    const show = (wanted) => {
      form.reset();
      setTimeout(() => {
        pinned = wanted.classes ?? [];
        for (const box of all('input[name=error]', form)) {
          box.checked = !wanted.errors || wanted.errors.includes(box.value);
        }
        apply();
        one('#examples').scrollIntoView();
        form.querySelector('input').focus({ preventScroll: true });
      });
    };
    const follow = (event) => {
      const link = event.target.closest?.('[data-show]');
      if (!link || (event.type === 'keydown' && event.key !== 'Enter')) return;
      if (event.type === 'keydown' && link.localName === 'button') return;
      show(JSON.parse(link.dataset.show));
    };
    document.addEventListener('click', follow);
    document.addEventListener('keydown', follow);
  }

  // ---- worklist ------------------------------------------------------------
  const cell = (value) => {
    const text = value === null ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const asCsv = (items) => {
    const names = Object.keys(items[0] ?? {}).filter((key) => key !== 'bbox');
    const head = [...names, 'x', 'y', 'width', 'height'];
    const rows = items.map((item) => [
      ...names.map((key) => item[key]), ...item.bbox]);
    return [head, ...rows].map((row) => `${row.map(cell).join(',')}\n`).join('');
  };
  const asCoco = (items) => {
    const { images, categories } = JSON.parse(one('#data-set').textContent);
    const ids = new Set(items.map((item) => item.image_id));
    return JSON.stringify({
      images: images.filter((image) => ids.has(image.id)),
      annotations: items.map((item, index) => {
        const { image_id, file_name, category, bbox, ...attributes } = item;
        return {
          id: index + 1,
          image_id,
          category_id: categories.find((each) => each.name === category).id,
          bbox,
          area: bbox[2] * bbox[3],
          iscrowd: 0,
          attributes,
        };
      }),
      categories,
    }, null, 1);
  };
  for (const button of all('[data-download]')) {
    button.addEventListener('click', () => {
      const kind = button.dataset.download;
      const shown = cards.filter((card) => !card.hidden);
      const ticked = shown.filter((card) => one('.tick input', card)?.checked);
      const items = (ticked.length ? ticked : shown)
        .map((card) => JSON.parse(card.dataset.work));
      const text = kind === 'csv' ? asCsv(items) : asCoco(items);
      const type = kind === 'csv' ? 'text/csv' : 'application/json';
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = `worklist.${kind}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // ---- lightbox ----------------------------------------------------------------
  const photos = JSON.parse(one('#photo-data').textContent);
  const dialog = one('#lightbox');
  const stage = one('.stage', dialog);
  const slider = one('input[type=range]', dialog);
  const layers = Object.fromEntries(
    all('input[data-layer]', dialog).map((box) => [box.dataset.layer, box]));
  const SVG = 'http://www.w3.org/2000/svg';
  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, each] of Object.entries(attributes)) {
      made.setAttribute(key, each);
    }
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const detector = one('#detector');
  const boxesOf = (photo) => photo.others?.[detector?.value] ?? photo.boxes;
  let position = 0;
  let order = photos.map((_, i) => i);
  let focus = null;
  const shownPhotos = () => [...new Set(cards.filter((card) => !card.hidden)
    .map((card) => places.get(one('[data-photo]', card).dataset.photo))
    .filter((place) => place !== undefined))];
  const draw = () => {
    const photo = photos[position];
    const svg = element('svg', {
      viewBox: `0 0 ${photo.width} ${photo.height}`, role: 'img',
      width: photo.width, height: photo.height,
      'aria-label': `${photo.name} with its boxes`,
    });
    svg.append(element('rect', {
      class: 'blank', width: photo.width, height: photo.height }));
    if (photo.pixels) {
      svg.append(element('use', { href: `#photo-${photo.key}` }));
    }
    const lowest = Number(slider.value);
    // Tags are 12 pixels high on the screen, whatever the photo's size.
    const size = 12 * Math.max(photo.width / stage.clientWidth,
      photo.height / (0.74 * innerHeight));
    let drawn = 0;
    const tags = [];
    for (const [role, x, y, w, h, tag, score] of boxesOf(photo)) {
      const isTruth = role === 'gt' || role === 'missed';
      if (!layers[isTruth ? 'gt' : 'det'].checked) continue;
      if (!isTruth && score < lowest) continue;
      const place = { x, y, width: w, height: h };
      svg.append(element('rect', { class: 'halo', ...place }),
        element('rect', { class: role, ...place }));
      if (layers.tags.checked) {
        tags.push(element('text', {
          class: `tag ${role}`, x: x + size / 4, 'font-size': size,
          y: isTruth ? y + h - size / 3 : Math.max(y - size / 3, size),
        }, tag));
      }
      drawn += 1;
    }
    if (focus && focus.position === position) {
      const [x, y, width, height] = focus.bbox;
      svg.append(element('rect', { class: 'focus', x, y, width, height }));
    }
    svg.append(...tags);
    stage.replaceChildren(svg);
    one('#lightbox-title').textContent = photo.name;
    one('.slider output', dialog).textContent = lowest.toFixed(2);
    one('.facts', dialog).textContent =
      `${order.indexOf(position) + 1} of ${order.length} · ${drawn} ${drawn === 1 ? 'box' : 'boxes'} drawn`
      + (photo.facts ? ` · ${photo.facts}` : '');
  };
  const move = (step) => {
    const place = order.indexOf(position);
    position = order[(place + step + order.length) % order.length];
    draw();
  };
  const places = new Map(photos.map((photo, i) => [String(photo.key), i]));
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-photo]');
    if (!button || !places.has(button.dataset.photo)) return;
    position = places.get(button.dataset.photo);
    const card = button.closest('.card');
    focus = card && card.dataset.work
      ? { position, bbox: JSON.parse(card.dataset.work).bbox } : null;
    order = card && cards.includes(card) ? shownPhotos()
      : photos.map((_, i) => i);
    dialog.showModal();
    draw();
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) { dialog.close(); return; }
    const action = event.target.closest('[data-do]')?.dataset.do;
    if (action === 'close') dialog.close();
    if (action === 'previous') move(-1);
    if (action === 'next') move(1);
  });
  dialog.addEventListener('input', draw);
  dialog.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === slider && event.key.startsWith('Arrow')) return;
    const keys = { g: 'gt', d: 'det', l: 'tags' };
    if (event.target.localName === 'select') return;
    if (event.key.toLowerCase() === 't' && detector) {
      detector.selectedIndex = (detector.selectedIndex + 1)
        % detector.options.length;
      draw();
    } else if (event.key === 'ArrowLeft') move(-1);
    else if (event.key === 'ArrowRight') move(1);
    else if (keys[event.key.toLowerCase()]) {
      const box = layers[keys[event.key.toLowerCase()]];
      box.checked = !box.checked;
      draw();
    } else return;
    event.preventDefault();
  });
})();
