// scratch: timing against the prototype
use disclosure::classes::Classes;
use disclosure::inference::*;
use disclosure::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    // mat file: rows of 0/1 ; w file: l d ; g file: groups
    let mat = std::fs::read_to_string(format!("{}.mat", args[1])).unwrap();
    let w: Vec<Weights> = std::fs::read_to_string(format!("{}.w", args[1]))
        .unwrap()
        .lines()
        .map(|l| {
            let v: Vec<f64> = l.split_whitespace().map(|x| x.parse().unwrap()).collect();
            Weights {
                likelihood: v[0],
                danger: v[1],
            }
        })
        .collect();
    let g: Vec<usize> = std::fs::read_to_string(format!("{}.g", args[1]))
        .unwrap()
        .split_whitespace()
        .map(|x| x.parse().unwrap())
        .collect();
    let ng = g.iter().max().unwrap() + 1;
    let mut cols = vec![Column::default(); ng];
    let mut local = vec![0u32; g.len()];
    for (a, &gr) in g.iter().enumerate() {
        local[a] = cols[gr].attributes.len() as u32;
        cols[gr].attributes.push(w[a]);
    }
    for c in &mut cols {
        c.meaning = Meaning::One((0..c.attributes.len() as u32).map(Some).collect());
    }
    let mut classes = Classes::new(ng);
    let mut row = vec![0u32; ng];
    for line in mat.lines() {
        row.fill(0);
        for (a, b) in line.bytes().enumerate() {
            if b == b'1' {
                row[g[a]] = local[a] + 1;
            }
        }
        classes.insert_many(&row, 1).unwrap();
    }
    drop(mat);
    let search = match args.get(2).map(|s| s.as_str()) {
        Some("a") => Search::Together,
        Some("b") => Search::RowByRow,
        _ => Search::Automatic,
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build_global()
        .unwrap();
    for _ in 0..3 {
        let t0 = Instant::now();
        let p = Population::new(&classes, &cols, &Control::new()).unwrap();
        let t1 = t0.elapsed();
        let s = scores(
            &p,
            &Settings {
                search,
                budget: Some(std::time::Duration::from_secs(60)),
                ..Default::default()
            },
            &Control::new(),
        )
        .unwrap();
        let mut sum = 0.0;
        let mut n = 0;
        for c in 0..classes.len() {
            sum += s.lower[p.row_of_class(c)] * classes.sizes()[c] as f64;
            n += classes.sizes()[c];
        }
        println!(
            "{} pack {:.3} total {:.3} distinct {} avg {:.6} exact {}",
            args[1],
            t1.as_secs_f64(),
            t0.elapsed().as_secs_f64(),
            p.len(),
            sum / n as f64,
            s.exact()
        );
    }
}
